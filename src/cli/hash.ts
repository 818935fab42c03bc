import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { NAME_FORM, NAME_RULE } from '../config/schema-parts.ts';
import { contractOf, validate, type ConsumedType, type DataOf } from '../messaging/contracts/registry.ts';
import { DEFAULT_ENVELOPE_LIMITS } from '../messaging/envelope.ts';
import { parseJson } from '../messaging/envelope/parse-json.ts';
import { canonicalJson } from '../runtime/canonical-json.ts';
import { operationId } from '../operations/operation-id.ts';
import { campaignContentHash, payloadHash } from '../operations/payload-hash.ts';
import type { CommandContext, CommandModule } from './commands.ts';

const HELP = `Usage: einmal hash [FILE|-] [--tenant NAME] [--campaign] [--canonical]

The payload hash of an operation: reads the data of an einmal.operation.requested.v1 as JSON and prints sha256:...

  FILE           where the data is; standard input when absent or -
  --tenant NAME  print the operation's id as well, on a second line
  --campaign     read the data of an einmal.campaign.revision-submitted.v1 and print its content hash
  --canonical    print the text that is hashed instead, without a line break at its end

Data that the service refuses, with its limits as they are by default, has no hash: every rule that it breaks is named with
its field.

Exit code 0 when there is a hash, 1 when not, 2 when called in a wrong way.
`;

const OPERATION = 'einmal.operation.requested.v1';
const REVISION = 'einmal.campaign.revision-submitted.v1';

interface Wanted {
  readonly file: string;
  readonly tenant: string | null;
  readonly campaign: boolean;
  readonly canonical: boolean;
}

interface Hashed {
  readonly hash: string;
  readonly canonical: string;
  /** Null of a campaign. */
  readonly operationKey: string | null;
}

/** What was asked for, or why it is not there, one reason a line. */
type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: string };

/** `einmal hash`: the hash that the service will make of the same data. */
export const run: CommandModule['run'] = async (args, { out, err }) => {
  const wanted = read(args);
  if (wanted === 'help') {
    out(HELP);
    return 0;
  }
  if (typeof wanted === 'string') return misused(wanted, err);
  const bytes = await bytesOf(wanted.file);
  const hashed = bytes.ok ? hashOf(bytes.value, wanted.campaign) : bytes;
  if (!hashed.ok) {
    err(`einmal hash: ${hashed.problems}\n`);
    return 1;
  }
  out(shown(hashed.value, wanted));
  return 0;
};

function misused(what: string, err: CommandContext['err']): 2 {
  err(`einmal hash: ${what}\n\n${HELP}`);
  return 2;
}

/** The arguments, `help`, or what is wrong with them. */
function read(args: readonly string[]): Wanted | string {
  const options = {
    tenant: { type: 'string' },
    campaign: { type: 'boolean' },
    canonical: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
    if (values.help) return 'help';
    const { tenant = null, campaign = false, canonical = false } = values;
    if (positionals.length > 1) return 'only one file is read';
    if (tenant !== null && !NAME_FORM.test(tenant)) return `--tenant ${NAME_RULE}`;
    if (tenant !== null && (campaign || canonical)) return '--tenant goes with neither --campaign nor --canonical';
    return { file: positionals[0] ?? '-', tenant, campaign, canonical };
  } catch (error) {
    return error instanceof TypeError ? error.message : 'the arguments cannot be read';
  }
}

/** At most what the service takes by default: a stream may have no end. */
async function bytesOf(file: string): Promise<Result<Buffer>> {
  const { maxBytes } = DEFAULT_ENVELOPE_LIMITS;
  const name = file === '-' ? 'standard input' : file;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    const stream: AsyncIterable<Buffer | string> = file === '-' ? process.stdin : createReadStream(file);
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (length > maxBytes) return { ok: false, problems: `the data has more than ${maxBytes} bytes` };
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return { ok: false, problems: `${name}: cannot be read${code}` };
  }
  return { ok: true, value: Buffer.concat(chunks) };
}

function hashOf(bytes: Buffer, campaign: boolean): Result<Hashed> {
  return campaign ? hashOfRevision(bytes) : hashOfOperation(bytes);
}

function hashOfOperation(bytes: Buffer): Result<Hashed> {
  const checked = dataOf(OPERATION, bytes);
  if (!checked.ok) return checked;
  const { kind, request, class: operationClass, approval, operationKey } = checked.value;
  const canonical = canonicalJson({ kind, request, class: operationClass, approval }, 'escape');
  return { ok: true, value: { hash: payloadHash(checked.value), canonical, operationKey } };
}

function hashOfRevision(bytes: Buffer): Result<Hashed> {
  const checked = dataOf(REVISION, bytes);
  if (!checked.ok) return checked;
  const { campaignId: _id, revision: _revision, ...content } = checked.value;
  const canonical = canonicalJson(content, 'escape');
  return { ok: true, value: { hash: campaignContentHash(checked.value), canonical, operationKey: null } };
}

/** The same road as a record's: strict JSON, then the contract. */
function dataOf<Type extends ConsumedType>(type: Type, bytes: Buffer): Result<DataOf<Type>> {
  const parsed = parseJson(bytes, DEFAULT_ENVELOPE_LIMITS.maxDepth);
  if (!parsed.ok) return { ok: false, problems: parsed.detail };
  const checked = validate(contractOf(type), parsed.value);
  if (checked.ok) return { ok: true, value: checked.data };
  const lines = checked.problems.map(({ path, rule }) => `\n  ${path === '' ? rule : `${path}: ${rule}`}`);
  return { ok: false, problems: `not the data of ${type}:${lines.join('')}` };
}

function shown({ hash, canonical, operationKey }: Hashed, wanted: Wanted): string {
  if (wanted.canonical) return canonical;
  if (wanted.tenant === null || operationKey === null) return `${hash}\n`;
  return `${hash}\n${operationId(wanted.tenant, operationKey)}\n`;
}
