import type { Transaction } from '../../database/in-transaction.ts';
import { loadStatement } from '../../database/statement.ts';
import type { RequestAnswer } from '../request-operations/request-answer.ts';

const note = loadStatement<{ tenant: string; requests: number }, never>(import.meta.url, 'note-conflicts.sql');

/** Keeps how many requests were refused since their key belongs to another payload, for the figures of the last day. */
export async function noteConflicts(tx: Transaction, answers: readonly RequestAnswer[]): Promise<void> {
  const conflicted = answers.filter(({ kind }) => kind === 'conflicted');
  for (const [tenant, refused] of Map.groupBy(conflicted, ({ operation }) => operation.tenantId))
    await note.run(tx, { tenant, requests: refused.length });
}
