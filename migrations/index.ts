import { CreateLedger1764400000000 } from './1764400000000-create-ledger.ts';
import { ResolveUnknowns1764450000000 } from './1764450000000-resolve-unknowns.ts';
import { IndexUnknowns1764450000001 } from './1764450000001-index-unknowns.ts';

/** In order. A change of the schema is a new file and a new line here; what has been released is never edited. */
export const migrations = [CreateLedger1764400000000, ResolveUnknowns1764450000000, IndexUnknowns1764450000001];
