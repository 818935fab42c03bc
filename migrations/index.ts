import { CreateLedger1764400000000 } from './1764400000000-create-ledger.ts';

/** In order. A change of the schema is a new file and a new line here; what has been released is never edited. */
export const migrations = [CreateLedger1764400000000];
