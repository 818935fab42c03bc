import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { CommandContext, CommandModule } from './commands.ts';
import { clientOf, ENVIRONMENT_HELP, oneLine, type ApiClient } from './unknowns-client.ts';

const HELP = `Usage: einmal unknowns resolve --as sent|not-sent|wait --reason TEXT [--until TIME] KEY[@CLAIM]...

Says what became of operations whose outcome is not known.

  --as sent        it had its effect; it is accepted
  --as not-sent    it had none; it may be sent again
  --as wait        look again at --until
  --reason TEXT    why; it is kept in the audit
  --until TIME     RFC 3339 with offset, at most 30 days ahead; with wait only

KEY@CLAIM decides only what was seen under that claim number; KEY alone reads the present one first.
A key that itself ends in @ and digits must be given with its claim number.

Exit code 0 when all are resolved, 1 when one is not, 2 when called in a wrong way.

${ENVIRONMENT_HELP}`;

const AT_A_TIME = 1000;
/** Reads of claim numbers under way at once. */
const READS = 16;
const DECISIONS: ReadonlySet<string> = new Set(['sent', 'not-sent', 'wait']);

interface Decision {
  readonly as: string;
  readonly reason: string;
  readonly until?: string;
}

interface Wanted {
  readonly decision: Decision;
  readonly keys: readonly string[];
}

interface Decided {
  readonly operationKey: string;
  readonly claimNumber: number;
}

const present = z.object({ state: z.string(), claimNumber: z.number() });
const outcomes = z.object({
  items: z.array(z.object({ operationKey: z.string(), outcome: z.string(), state: z.string().optional() })),
});

type Printer = Pick<CommandContext, 'out' | 'err'>;

/** `einmal unknowns resolve`. */
export const run: CommandModule['run'] = async (args, { env, out, err }) => {
  const wanted = read(args);
  if (wanted === 'help') {
    out(HELP);
    return 0;
  }
  if (typeof wanted === 'string') return misused(wanted, err);
  const client = clientOf(env);
  if (typeof client === 'string') return misused(client, err);
  const printer = { out, err };
  const decided: Decided[] = [];
  for (const keys of inParts(wanted.keys, READS)) {
    const found = await Promise.all(keys.map(async (key) => await find(client, key, printer)));
    decided.push(...found.filter((each) => each !== null));
  }
  let resolved = 0;
  for (const operations of inParts(decided, AT_A_TIME)) {
    resolved += await decide(client, wanted.decision, operations, printer);
  }
  return resolved === wanted.keys.length ? 0 : 1;
};

function misused(what: string, err: CommandContext['err']): 2 {
  err(`einmal unknowns resolve: ${what}\n\n${HELP}`);
  return 2;
}

function inParts<T>(all: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < all.length; at += size) parts.push(all.slice(at, at + size));
  return parts;
}

/** The arguments, `help`, or what is wrong with them. */
function read(args: readonly string[]): Wanted | string {
  const options = {
    as: { type: 'string' },
    reason: { type: 'string' },
    until: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
    if (values.help) return 'help';
    const { as = '', reason = '', until } = values;
    if (!DECISIONS.has(as)) return '--as must be sent, not-sent or wait';
    if (reason.trim() === '') return '--reason is required';
    if ((as === 'wait') !== (until !== undefined)) return '--until belongs to --as wait';
    if (positionals.length === 0) return 'name at least one operation key';
    return { decision: { as, reason, ...(until === undefined ? {} : { until }) }, keys: [...new Set(positionals)] };
  } catch (error) {
    return error instanceof TypeError ? error.message : 'the arguments cannot be read';
  }
}

/** What is decided, with the claim number that was given or is there now; null when there is nothing to decide. */
async function find(client: ApiClient, text: string, { err }: Printer): Promise<Decided | null> {
  const [, given, claim] = /^([^]+)@(\d{1,15})$/.exec(text) ?? [];
  if (given !== undefined && claim !== undefined) return { operationKey: given, claimNumber: Number(claim) };
  const answer = await client.get(`/v1/operations/${encodeURIComponent(text.toWellFormed())}`, present);
  if (!answer.ok) {
    err(`${oneLine(text)}: ${oneLine(answer.problem)}\n`);
    return null;
  }
  const { state, claimNumber } = answer.body;
  if (state === 'unknown') return { operationKey: text, claimNumber };
  err(`${oneLine(text)}: its outcome is not unknown, it is ${oneLine(state)}\n`);
  return null;
}

/** How many were resolved. */
async function decide(
  client: ApiClient,
  decision: Decision,
  operations: readonly Decided[],
  { out, err }: Printer,
): Promise<number> {
  const answer = await client.post('/v1/unknowns/resolve', { ...decision, operations }, outcomes);
  if (!answer.ok) {
    err(`einmal unknowns resolve: ${oneLine(answer.problem)}\n`);
    return 0;
  }
  const { items } = answer.body;
  for (const { operationKey, outcome, state } of items) {
    const now = state === undefined ? '' : `, it is ${oneLine(state)}`;
    (outcome === 'resolved' ? out : err)(`${oneLine(operationKey)}: ${oneLine(outcome)}${now}\n`);
  }
  return items.filter(({ outcome }) => outcome === 'resolved').length;
}
