import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { apiJudge, type ApiJudge } from './api-sink-client.ts';
import { clientOf, type SmtpSink } from './smtp-sink.ts';

export { SINK_CREDENTIALS } from './api-dialects/credentials.ts';
export { RETRY_AFTER_SECONDS, type Effect, type Refusal } from './api-dialects/dialect.ts';
export type { ApiJudge } from './api-sink-client.ts';
export type { ApiReference, ApiStats } from './api-sink-ledger.ts';
export type { ApiAction, ApiPhase, ApiRule } from './api-sink-script.ts';

interface OwnProcess {
  readonly pid: number;
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** The outside judge of what HTTP APIs were asked to do: it speaks as each vendor, in a process of its own, asked over HTTP. */
export interface ApiSink extends ApiJudge, OwnProcess {
  /** Base URL for every vendor; each is known by its paths. Generic endpoints: `/generic/replay`, `/reject` and `/plain` below it. */
  readonly apiUrl: string;
  readonly apiControlUrl: string;
}

/** Both judges in one process. */
export interface Sinks extends OwnProcess {
  readonly smtp: Omit<SmtpSink, 'pid' | 'stop' | 'kill'>;
  readonly api: Omit<ApiSink, 'pid' | 'stop' | 'kill'>;
}

/** Starts a sink that ends with this process at the latest. Resolves when it listens. */
export async function spawnApiSink(options: { readonly port?: number } = {}): Promise<ApiSink> {
  const { child, ready } = await start('api-sink-process.ts', [`--port=${options.port ?? 0}`]);
  const { apiUrl, apiControlUrl, pid } = ready as { apiUrl: string; apiControlUrl: string; pid: number };
  return { apiUrl, apiControlUrl, ...apiJudge(apiControlUrl), pid, ...endOf(child) };
}

/** One process that is the mail server and every HTTP API. Ends with this process at the latest. */
export async function spawnSinks(): Promise<Sinks> {
  const { child, ready } = await start('smtp-sink-process.ts', ['--api']);
  const said = ready as Record<'host' | 'controlUrl' | 'apiUrl' | 'apiControlUrl', string> & {
    port: number;
    pid: number;
  };
  const { host, port, controlUrl, apiUrl, apiControlUrl } = said;
  return {
    smtp: { host, port, controlUrl, ...clientOf(controlUrl) },
    api: { apiUrl, apiControlUrl, ...apiJudge(apiControlUrl) },
    pid: said.pid,
    ...endOf(child),
  };
}

async function start(script: string, options: readonly string[]): Promise<{ child: ChildProcess; ready: unknown }> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, '--exit-with-stdin', ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const line: unknown[] | null = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => null)]);
  if (line === null) throw new Error('the sink ended before it was ready');
  return { child, ready: JSON.parse(String(line[0])) };
}

function endOf(child: ChildProcess): Pick<OwnProcess, 'stop' | 'kill'> {
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return { stop: async () => await end('SIGTERM'), kill: async () => await end('SIGKILL') };
}
