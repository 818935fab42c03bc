import { CreateLedger1764400000000 } from './1764400000000-create-ledger.ts';
import { ResolveUnknowns1764450000000 } from './1764450000000-resolve-unknowns.ts';
import { IndexUnknowns1764450000001 } from './1764450000001-index-unknowns.ts';
import { StepsAndBudgets1764460000000 } from './1764460000000-steps-and-budgets.ts';
import { IndexEnded1764460000001 } from './1764460000001-index-ended.ts';
import { Retention1764470000000 } from './1764470000000-retention.ts';
import { IndexRetention1764470000001 } from './1764470000001-index-retention.ts';
import { NoteConflicts1764480000000 } from './1764480000000-note-conflicts.ts';
import { IndexAwaiting1764480000001 } from './1764480000001-index-awaiting.ts';
import { Batches1764490000000 } from './1764490000000-batches.ts';
import { IndexBatches1764490000001 } from './1764490000001-index-batches.ts';

/** In order. A change of the schema is a new file and a new line here; what has been released is never edited. */
export const migrations = [
  CreateLedger1764400000000,
  ResolveUnknowns1764450000000,
  IndexUnknowns1764450000001,
  StepsAndBudgets1764460000000,
  IndexEnded1764460000001,
  Retention1764470000000,
  IndexRetention1764470000001,
  NoteConflicts1764480000000,
  IndexAwaiting1764480000001,
  Batches1764490000000,
  IndexBatches1764490000001,
];
