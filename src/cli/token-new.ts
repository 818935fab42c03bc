import { hash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { SCOPES, type Scope } from '../config/tenant.schema.ts';
import type { CommandModule } from './commands.ts';

const HELP = `Usage: einmal token new [--name NAME] [--scopes read,request,operate]

Draws a new bearer token, and prints it with the lines for its tenant in einmal.yaml. The service keeps the hash alone, so the
token is shown here and never again. To replace a token: add the new one beside it, let its users change over, then take the
old one away, or give it an expiresAt.

  --name NAME      who uses it, as the audit will say; new when absent
  --scopes LIST    what it may do; read when absent

Exit code 0 when it was drawn, 2 when called in a wrong way.
`;

const BYTES = 32;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** `einmal token new`: 256 random bits with a prefix by which leaked ones can be found. */
export const run: CommandModule['run'] = (args, { out, err }) => {
  const wanted = read(args);
  if (wanted === 'help') {
    out(HELP);
    return 0;
  }
  if (typeof wanted === 'string') {
    err(`einmal token new: ${wanted}\n\n${HELP}`);
    return 2;
  }
  const token = `einmal_${randomBytes(BYTES).toString('base64url')}`;
  out(`${token}\n\n${yamlLines(token, wanted)}`);
  return 0;
};

interface Wanted {
  readonly name: string;
  readonly scopes: readonly Scope[];
}

function yamlLines(token: string, { name, scopes }: Wanted): string {
  return [
    '    tokens:',
    `      - name: ${name}`,
    `        sha256: ${hash('sha256', token, 'hex')}`,
    `        scopes: [${scopes.join(', ')}]`,
    '',
  ].join('\n');
}

/** The arguments, `help`, or what is wrong with them. */
function read(args: readonly string[]): Wanted | string {
  const options = {
    name: { type: 'string' },
    scopes: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true });
    if (values.help) return 'help';
    const { name = 'new' } = values;
    if (!NAME.test(name)) return '--name must be 1 to 100 of A-Z, a-z, 0-9, ".", "_" and "-"';
    const words = (values.scopes ?? 'read').split(',').map((word) => word.trim());
    const scopes = SCOPES.filter((scope) => words.includes(scope));
    if (scopes.length !== words.length) return `--scopes must be a list of ${SCOPES.join(', ')}, each once`;
    return { name, scopes };
  } catch (error) {
    return error instanceof TypeError ? error.message : 'the arguments cannot be read';
  }
}
