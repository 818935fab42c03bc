import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { CommandContext, CommandModule } from './commands.ts';
import { clientOf, ENVIRONMENT_HELP, oneLine, type ApiClient } from './unknowns-client.ts';

const HELP = `Usage: einmal unknowns list [--provider NAME] [--campaign ID] [--limit N] [--json]

Operations whose outcome is not known, oldest first, with what may still tell.

  --provider NAME  only of this provider
  --campaign ID    only of this campaign
  --limit N        at most so many, 1 to 10000 (default 50)
  --json           one JSON object a line instead of a table

${ENVIRONMENT_HELP}`;

const LARGEST_PAGE = 200;
const MOST = 10_000;

const item = z.looseObject({
  operationKey: z.string(),
  claimNumber: z.number(),
  provider: z.string(),
  ageSeconds: z.number(),
  needsPerson: z.boolean(),
  attempts: z.looseObject({ number: z.number(), code: z.string().nullable() }),
  missing: z.array(z.string()),
});
const page = z.object({ items: z.array(item), next: z.string().nullable() });
type Item = z.output<typeof item>;

interface Wanted {
  readonly filters: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly json: boolean;
}

/** `einmal unknowns list`. Exit code 0 when it could be listed, 1 when not, 2 when called in a wrong way. */
export const run: CommandModule['run'] = async (args, { env, out, err }) => {
  const wanted = read(args);
  if (wanted === 'help') {
    out(HELP);
    return 0;
  }
  if (typeof wanted === 'string') return misused(wanted, err);
  const client = clientOf(env);
  if (typeof client === 'string') return misused(client, err);
  return await list(client, wanted, { out, err });
};

function misused(what: string, err: CommandContext['err']): 2 {
  err(`einmal unknowns list: ${what}\n\n${HELP}`);
  return 2;
}

/** The arguments, `help`, or what is wrong with them. */
function read(args: readonly string[]): Wanted | string {
  const options = {
    provider: { type: 'string' },
    campaign: { type: 'string' },
    limit: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true });
    if (values.help) return 'help';
    const limit = /^\d{1,5}$/.test(values.limit ?? '50') ? Number(values.limit ?? '50') : 0;
    if (limit < 1 || limit > MOST) return `--limit must be 1 to ${MOST}`;
    const { provider, campaign } = values;
    const filters = { ...(provider ? { provider } : {}), ...(campaign ? { campaign } : {}) };
    return { filters, limit, json: values.json ?? false };
  } catch (error) {
    return error instanceof TypeError ? error.message : 'the arguments cannot be read';
  }
}

async function list(
  client: ApiClient,
  { filters, limit, json }: Wanted,
  { out, err }: Pick<CommandContext, 'out' | 'err'>,
): Promise<number> {
  const items: Item[] = [];
  let after: string | null = null;
  do {
    const size = Math.min(LARGEST_PAGE, limit - items.length);
    const query: URLSearchParams = new URLSearchParams({
      ...filters,
      limit: String(size),
      ...(after === null ? {} : { after }),
    });
    const answer = await client.get(`/v1/unknowns?${query.toString()}`, page);
    if (!answer.ok) {
      err(`einmal unknowns list: ${oneLine(answer.problem)}\n`);
      return 1;
    }
    items.push(...answer.body.items);
    after = answer.body.next;
  } while (after !== null && items.length < limit);
  out(json ? items.map((each) => `${JSON.stringify(each)}\n`).join('') : tableOf(items, after !== null));
  return 0;
}

function tableOf(items: readonly Item[], more: boolean): string {
  if (items.length === 0) return 'nothing is unknown\n';
  const rows = items.map((each) => [
    oneLine(each.operationKey),
    String(each.claimNumber),
    oneLine(each.provider),
    ageOf(each.ageSeconds),
    String(each.attempts.number),
    each.attempts.code === null ? '-' : oneLine(each.attempts.code),
    each.needsPerson ? 'yes' : 'no',
    each.missing.map(oneLine).join(', '),
  ]);
  const head = ['KEY', 'CLAIM', 'PROVIDER', 'AGE', 'TRIES', 'CODE', 'NEEDS PERSON', 'STILL POSSIBLE'];
  const lines = aligned([head, ...rows]);
  return [...lines, ...(more ? ['there are more: raise --limit'] : []), ''].join('\n');
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Two units are enough to see how old it is. */
function ageOf(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${Math.floor(seconds % 60)}s` : `${Math.floor(seconds)}s`;
}
