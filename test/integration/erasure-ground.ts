import { writeAudit } from '../../src/audit/write-audit.ts';
import { erasePage, erasePerson, type ErasureOutcome } from '../../src/erasure/erase-person.ts';
import type { ErasurePlace, ErasureReport } from '../../src/erasure/erasure.ts';
import type { Person } from '../../src/erasure/request-erasure.ts';
import { storeHeaders, type OutboxHeader } from '../../src/messaging/outbox/outbox-entry.ts';
import { upsertSubscribers } from '../../src/subscribers/upsert-subscribers.ts';
import type { DispatchRig } from '../support/dispatch-rig.ts';

export function placeOf(rig: DispatchRig, pageSize = 100): ErasurePlace {
  const { dataSource, events, outbox } = rig;
  return { dataSource, events, outbox, pageSize, audit: async (tx, entry) => await writeAudit(tx, [entry]) };
}

export async function erase(rig: DispatchRig, person: Person, pageSize?: number): Promise<ErasureOutcome> {
  const order = { tenantId: 'demo', person, actor: 'office', reason: 'asked for by the person, ada@example.com' };
  return await erasePerson(placeOf(rig, pageSize), order);
}

/** @throws Error when it was not erased */
export async function reportOf(rig: DispatchRig, person: Person, pageSize?: number): Promise<ErasureReport> {
  const outcome = await erase(rig, person, pageSize);
  if (outcome.kind !== 'erased') throw new Error(outcome.kind);
  return outcome.report;
}

/** Does what is left, as the maintenance of any replica. Returns how many pages it took. */
export async function goOn(rig: DispatchRig, pageSize?: number): Promise<number> {
  let pages = 0;
  while ((await erasePage(placeOf(rig, pageSize), null)) === 'more') pages += 1;
  return pages;
}

export async function subscribe(rig: DispatchRig, subscriberId: string, email: string, time?: Date): Promise<void> {
  await rig.inTransaction(async (tx) => {
    await upsertSubscribers(tx, [
      {
        tenantId: 'demo',
        subscriberId,
        status: 'confirmed',
        email,
        lists: ['news'],
        attributes: { name: 'Ada' },
        locale: 'de',
        timeZone: 'Europe/Berlin',
        factTime: time ?? new Date(Date.now() - 60_000),
      },
    ]);
  });
}

let nextOffset = 0;

export interface Letter {
  readonly tenant?: string | null;
  readonly key?: string;
  readonly value?: string | Buffer;
  readonly headers?: readonly OutboxHeader[];
}

/** A dead letter, as the inbox keeps it; its offset is its name. */
export async function bury(rig: DispatchRig, { tenant = 'demo', key, value, headers = [] }: Letter): Promise<number> {
  nextOffset += 1;
  await rig.query(
    `INSERT INTO dead_letters (tenant_id, consumer, topic, partition, record_offset, record_time, reason, detail, attempts,
                               record_key, record_value, headers)
     VALUES ($1, 'c', 't', 0, $2, now(), 'wrong-schema', 'a rule', 1, $3, $4, $5)`,
    [
      tenant,
      nextOffset,
      key === undefined ? null : Buffer.from(key),
      value === undefined ? null : Buffer.from(value),
      JSON.stringify(storeHeaders(headers.map(([name, text]) => [name, Buffer.from(text)] as const))),
    ],
  );
  return nextOffset;
}

/** Offsets of the dead letters that have lost their bytes. */
export async function emptied(rig: DispatchRig): Promise<number[]> {
  const rows = await rig.query<{ at: number }>(
    `SELECT record_offset::integer AS at FROM dead_letters
     WHERE record_key IS NULL AND record_value IS NULL AND headers::text = '[]' ORDER BY 1`,
  );
  return rows.map((row) => row.at);
}

/** Tables in which the text stands anywhere: as text, in JSON, in bytes. */
export async function tablesWith(rig: DispatchRig, text: string): Promise<string[]> {
  const tables = await rig.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  const found: string[] = [];
  const hex = Buffer.from(text).toString('hex');
  for (const { name } of tables) {
    const rows = await rig.query(
      `SELECT FROM "${name}" t WHERE position(lower($1) IN lower(t::text)) > 0 OR position($2 IN t::text) > 0 LIMIT 1`,
      [text, hex],
    );
    if (rows.length > 0) found.push(name);
  }
  return found;
}
