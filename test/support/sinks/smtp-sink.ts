import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SinkArrival, SinkStats } from './smtp-sink-ledger.ts';
import type { SinkRule } from './smtp-sink-script.ts';

export type { SinkArrival, SinkStats } from './smtp-sink-ledger.ts';
export type { SinkAction, SinkPhase, SinkRule } from './smtp-sink-script.ts';

export interface SmtpSinkOptions {
  /** 0: any free port. */
  readonly port?: number;
  readonly host?: string;
  /** What EHLO announces instead of the usual list. */
  readonly extensions?: readonly string[];
  readonly auth?: { readonly user: string; readonly password: string };
  readonly recordArrivals?: boolean;
  /** Number of newest messages whose bytes are kept. */
  readonly keepRaw?: number;
}

/** The outside judge of what was mailed: an SMTP server in a process of its own, asked over HTTP. */
export interface SmtpSink {
  readonly host: string;
  readonly port: number;
  readonly controlUrl: string;
  readonly pid: number;
  stats(): Promise<SinkStats & { readonly stalled: number }>;
  /** Message-ID (with angle brackets) -> mails accepted. */
  counts(): Promise<Map<string, number>>;
  /** Recipient as in RCPT TO -> mails accepted. */
  recipients(): Promise<Map<string, number>>;
  /** Message-ID -> distinct SHA-256 of the bytes accepted, hex. */
  hashes(): Promise<Map<string, readonly string[]>>;
  arrivals(): Promise<readonly SinkArrival[]>;
  /** null when the bytes are not kept. */
  raw(messageId: string): Promise<Buffer | null>;
  /** Replaces the rules; the first that matches and fires decides. */
  script(rules: readonly SinkRule[], seed?: number): Promise<void>;
  /** Lets everything that stalls go on; the number of connections released. */
  release(): Promise<number>;
  /** Forgets counts and rules. */
  reset(): Promise<void>;
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a sink that ends with this process at the latest. Resolves when it listens. */
export async function spawnSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const script = fileURLToPath(new URL('smtp-sink-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, '--exit-with-stdin', ...argumentsOf(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ready = await firstLine(child);
  return { ...ready, ...clientOf(ready.controlUrl), ...endOf(child) };
}

/** The judge's interface to a sink that somebody else started. */
export function clientOf(controlUrl: string): Omit<SmtpSink, 'host' | 'port' | 'controlUrl' | 'pid' | 'stop' | 'kill'> {
  const call = async (path: string, body?: unknown): Promise<unknown> => await askControl(controlUrl, path, body);
  const map = async <V>(path: string): Promise<Map<string, V>> => {
    return new Map(Object.entries((await call(path)) as Record<string, V>));
  };
  return {
    stats: async () => (await call('/stats')) as SinkStats & { stalled: number },
    counts: async () => await map<number>('/counts'),
    recipients: async () => await map<number>('/recipients'),
    hashes: async () => await map<readonly string[]>('/hashes'),
    arrivals: async () => (await call('/arrivals')) as SinkArrival[],
    raw: async (messageId) => {
      const response = await fetch(`${controlUrl}/raw?messageId=${encodeURIComponent(messageId)}`);
      const bytes = Buffer.from(await response.arrayBuffer());
      return response.ok ? bytes : null;
    },
    script: async (rules, seed) => void (await call('/script', { rules, seed })),
    release: async () => ((await call('/release', {})) as { released: number }).released,
    reset: async () => void (await call('/reset', {})),
  };
}

async function askControl(controlUrl: string, path: string, body?: unknown): Promise<unknown> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${controlUrl}${path}`, init);
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`the sink refused ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

function argumentsOf(options: SmtpSinkOptions): string[] {
  const { port = 0, host, extensions, auth, recordArrivals = false, keepRaw = 0 } = options;
  return [
    `--port=${port}`,
    ...(host === undefined ? [] : [`--host=${host}`]),
    ...(extensions === undefined ? [] : [`--extensions=${extensions.join(',')}`]),
    ...(auth === undefined ? [] : [`--auth=${auth.user}:${auth.password}`]),
    ...(recordArrivals ? ['--arrivals'] : []),
    `--keep-raw=${keepRaw}`,
  ];
}

async function firstLine(
  child: ChildProcess,
): Promise<{ host: string; port: number; controlUrl: string; pid: number }> {
  if (child.stdout === null) throw new Error('the sink has no standard output');
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => null)]);
  if (line === null) throw new Error('the sink ended before it was ready');
  return JSON.parse(String(line[0])) as { host: string; port: number; controlUrl: string; pid: number };
}

function endOf(child: ChildProcess): Pick<SmtpSink, 'stop' | 'kill'> {
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return { stop: async () => await end('SIGTERM'), kill: async () => await end('SIGKILL') };
}
