import type { Transaction } from '../database/in-transaction.ts';
import { loadStatement } from '../database/statement.ts';

export type AuditAction =
  | 'operation.resolve'
  | 'operation.redrive'
  | 'operation.cancel'
  | 'approval.grant'
  | 'approval.withdraw'
  | 'person.erase'
  | 'provider.resume';

/** What a person decided. */
export interface AuditEntry {
  readonly tenantId: string;
  /** The name of the token, never the token. */
  readonly actor: string;
  readonly action: AuditAction;
  /** An operation key, what an approval is of, or `provider:NAME`. */
  readonly object: string;
  /** In the person's words, without addresses. */
  readonly reason: string;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

const write = loadStatement<
  Record<'tenants' | 'actors' | 'actions' | 'objects' | 'reasons' | 'befores' | 'afters', string[]>,
  never
>(import.meta.url, 'write-audit.sql');

/** The one writer of the table, in the transaction of what was decided: neither is there without the other. */
export async function writeAudit(tx: Transaction, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await write.run(tx, {
    tenants: entries.map((entry) => entry.tenantId),
    actors: entries.map((entry) => entry.actor),
    actions: entries.map((entry) => entry.action),
    objects: entries.map((entry) => entry.object),
    reasons: entries.map((entry) => entry.reason),
    befores: entries.map((entry) => JSON.stringify(entry.before)),
    afters: entries.map((entry) => JSON.stringify(entry.after)),
  });
}
