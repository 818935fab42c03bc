import { loadStatement } from '../database/statement.ts';
import { addressFinder } from './address-finder.ts';
import type { ErasePage } from './erasure.ts';

interface ReceiptRow {
  readonly received_at: string;
  readonly provider: string;
  readonly receipt_id: string;
  readonly content: unknown;
}

type Place = Pick<ReceiptRow, 'received_at' | 'provider' | 'receipt_id'>;

const read = loadStatement<Place & { tenant: string; page_size: number }, ReceiptRow>(
  import.meta.url,
  'read-unmatched-receipts.sql',
);
const blank = loadStatement<Record<'tenants' | 'providers' | 'receipt_ids', string[]>, object>(
  import.meta.url,
  'blank-unmatched-receipts.sql',
);

/** Receipts of no operation that is known; those of operations were emptied with them. */
export const eraseReceipts: ErasePage = async (tx, _outbox, erasure, { pageSize }) => {
  const { tenant_id: tenant, address_keys, position } = erasure;
  const finder = addressFinder(address_keys);
  const rows = await read.run(tx, { tenant, ...placeOf(position), page_size: pageSize });
  const about = rows.filter(({ content }) => finder.isIn(JSON.stringify(content)));
  const blanked = await blank.run(tx, {
    tenants: about.map(() => tenant),
    providers: about.map((row) => row.provider),
    receipt_ids: about.map((row) => row.receipt_id),
  });
  const last = rows.length < pageSize ? undefined : rows.at(-1);
  return {
    erased: { receipts: blanked.length },
    next: last ? { step: 'receipts', position: positionOf(last) } : { step: 'dead-letters', position: '' },
  };
};

function positionOf({ received_at, provider, receipt_id }: ReceiptRow): string {
  return JSON.stringify([received_at, provider, receipt_id]);
}

function placeOf(position: string): Place {
  const stored: unknown = position === '' ? [] : JSON.parse(position);
  const [receivedAt, provider, receiptId] = Array.isArray(stored) ? stored.map(String) : [];
  return { received_at: receivedAt ?? '-infinity', provider: provider ?? '', receipt_id: receiptId ?? '' };
}
