import type { Environment } from '../config/env.ts';

export interface CommandContext {
  readonly env: Environment;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface CommandModule {
  /** Gives the exit code: 0 done, 1 not, 2 called in a wrong way. */
  readonly run: (args: readonly string[], context: CommandContext) => number | Promise<number>;
}

interface Command {
  readonly summary: string;
  /** Loaded when called, so that one command does not pay for the others. */
  readonly load: () => Promise<CommandModule>;
}

/** Words of the command line -> module. To add a command: a module with `run`, and a line here. */
const COMMANDS: Readonly<Record<string, Command>> = {
  'config check': {
    summary: 'check the environment and einmal.yaml without starting',
    load: () => import('./config-check.ts'),
  },
  'unknowns list': {
    summary: 'list what the service does not know',
    load: () => import('./unknowns-list.ts'),
  },
  'unknowns resolve': {
    summary: 'say what became of it',
    load: () => import('./unknowns-resolve.ts'),
  },
  'token new': {
    summary: 'draw a new bearer token, with its lines for einmal.yaml',
    load: () => import('./token-new.ts'),
  },
  hash: {
    summary: 'the payload hash of an operation, before it is published',
    load: () => import('./hash.ts'),
  },
};

export function usage(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((words) => words.length));
  const lines = Object.entries(COMMANDS).map(([words, { summary }]) => `  ${words.padEnd(width)}  ${summary}`);
  return ['Usage: einmal <command>', '', 'Commands:', ...lines, ''].join('\n');
}

/** Runs the command with the most words that `args` begin with. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  if (args[0] === '--help' || args[0] === '-h' || args[0] === 'help') {
    context.out(usage());
    return 0;
  }
  for (let count = args.length; count > 0; count -= 1) {
    const words = args.slice(0, count).join(' ');
    const command = Object.hasOwn(COMMANDS, words) ? COMMANDS[words] : undefined;
    if (command !== undefined) return await (await command.load()).run(args.slice(count), context);
  }
  context.err(args.length === 0 ? usage() : `einmal: no such command\n\n${usage()}`);
  return 2;
}
