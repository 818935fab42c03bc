import { writeFile } from 'node:fs/promises';
import { parseAddress } from '../../src/mail/address.ts';
import { readCsv } from './csv.ts';

/** A row of the CSV file that a peer would export from its own system. */
export interface Recipient {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly status: 'pending' | 'confirmed' | 'unsubscribed';
  readonly lists: readonly string[];
  /** `scope reason` of a suppression that stands before the campaign, for example `all hard-bounce`. */
  readonly suppressed: { readonly scope: string; readonly reason: SuppressionReason } | null;
}

type SuppressionReason = 'unsubscribed' | 'hard-bounce' | 'complaint' | 'manual';
type Awkward = Pick<Recipient, 'email' | 'name'> &
  Partial<Pick<Recipient, 'status' | 'lists'>> & { suppressed?: string };

/** The lists that the campaign goes to. */
export const CAMPAIGN_LISTS = ['news', 'offers'] as const;
const COLUMNS = ['id', 'email', 'name', 'status', 'lists', 'suppressed'] as const;

/** What goes wrong in real lists. Addresses that are the same by the rules of src/mail/address.ts stand one below the other. */
const AWKWARD: readonly Awkward[] = [
  { email: 'Ada.Lovelace@example.org', name: 'Ada' },
  { email: 'ada.lovelace@EXAMPLE.org', name: 'Ada again, in other case' },
  { email: 'info@bücher.example', name: 'Bücher, as people write it' },
  { email: 'info@xn--bcher-kva.example', name: 'Bücher, as the DNS writes it' },
  { email: 'grace@example.org', name: 'Grace' },
  { email: 'grace+news@example.org', name: 'Grace, with a tag: another address' },
  { email: 'grace+shop@example.org', name: 'Grace, with another tag' },
  { email: '"john smith"@example.org', name: 'John, "the quoted"' },
  { email: '"plain"@example.org', name: 'Quotes without need' },
  { email: 'plain@example.org', name: 'The same without quotes' },
  { email: 'two..dots@example.org', name: 'An address that nobody can have' },
  { email: 'both@example.org', name: 'On two lists', lists: ['news', 'offers'] },
  {
    email: 'vip@example.org',
    name: 'Left another list only',
    lists: ['news', 'vip'],
    suppressed: 'list:vip unsubscribed',
  },
  { email: 'bounced@example.net', name: 'Suppressed: everything', suppressed: 'all hard-bounce' },
  { email: 'Complained@example.net', name: 'Suppressed: marketing', suppressed: 'marketing complaint' },
  {
    email: 'left@example.net',
    name: 'Suppressed: this list',
    lists: ['offers'],
    suppressed: 'list:offers unsubscribed',
  },
  { email: 'LEFT@example.net', name: 'The same person under another id', lists: ['offers'] },
  { email: 'pending@example.net', name: 'Not confirmed yet', status: 'pending' },
  { email: 'gone@example.net', name: 'Unsubscribed', status: 'unsubscribed' },
  { email: 'inner@example.net', name: 'On no list of the campaign', lists: ['internal'] },
];

/** Rows that depend on nothing but their number; the awkward ones are spread evenly. */
export function makeRecipients(count: number): Recipient[] {
  const every = Math.max(1, Math.floor(count / (AWKWARD.length + 1)));
  return Array.from({ length: count }, (_, index) => {
    const awkward = (index + 1) % every === 0 ? AWKWARD[(index + 1) / every - 1] : undefined;
    return recipientOf(index + 1, awkward ?? ordinary(index + 1));
  });
}

function ordinary(number: number): Awkward {
  const lists = number % 10 === 0 ? ['news', 'offers'] : [number % 4 === 0 ? 'offers' : 'news'];
  return {
    email: `person${number}@${number % 3 === 0 ? 'example.com' : 'mail.example.net'}`,
    name: `Person ${number}`,
    lists,
  };
}

function recipientOf(number: number, { suppressed = '', ...row }: Awkward): Recipient {
  const id = `sub_${String(number).padStart(6, '0')}`;
  return { status: 'confirmed', lists: ['news'], ...row, id, suppressed: suppressionOf(suppressed) };
}

export async function writeRecipients(file: string, count: number): Promise<void> {
  const rows = makeRecipients(count).map(({ id, email, name, status, lists, suppressed }) => [
    id,
    email,
    name,
    status,
    lists.join(';'),
    suppressed ? `${suppressed.scope} ${suppressed.reason}` : '',
  ]);
  await writeFile(file, [[...COLUMNS], ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join(''));
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** @throws Error when a column is missing */
export async function readRecipients(file: string): Promise<Recipient[]> {
  const rows = await readCsv(file, COLUMNS);
  return rows.map(({ id, email, name, status, lists, suppressed }) => ({
    id,
    email,
    name,
    status: status as Recipient['status'],
    lists: lists.split(';'),
    suppressed: suppressionOf(suppressed),
  }));
}

function suppressionOf(text: string): Recipient['suppressed'] {
  const [scope, reason] = text.split(' ');
  return scope && reason ? { scope, reason: reason as SuppressionReason } : null;
}

/**
 * Whom the campaign must reach, counted from the file alone: what the ledger is held against. Address key -> id of the
 * first subscriber who has it.
 */
export function expectedAudience(recipients: readonly Recipient[]): Map<string, string> {
  const blocked = new Set(recipients.filter(suppressesCampaign).map(({ email }) => addressKey(email)));
  const audience = new Map<string, string>();
  for (const { id, email, status, lists } of recipients) {
    const key = addressKey(email);
    const meant = status === 'confirmed' && lists.some((list) => isCampaignList(list));
    if (meant && key !== null && !blocked.has(key) && !audience.has(key)) audience.set(key, id);
  }
  return audience;
}

/** null when it cannot be mailed. */
export function addressKey(email: string): string | null {
  const address = parseAddress(email);
  return address.ok ? address.key : null;
}

function suppressesCampaign({ suppressed }: Recipient): boolean {
  if (suppressed === null) return false;
  const list = /^list:(.*)$/.exec(suppressed.scope)?.[1];
  return list === undefined || isCampaignList(list);
}

function isCampaignList(list: string): boolean {
  return CAMPAIGN_LISTS.some((each) => each === list);
}
