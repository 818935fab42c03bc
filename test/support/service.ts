import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';
import { freePorts } from './stack/free-ports.ts';

export type Role = 'api' | 'consumer' | 'relay' | 'dispatcher' | 'maintenance';

export interface ServiceOptions {
  readonly databaseUrl: string;
  readonly kafkaBrokers: string;
  readonly topicPrefix: string;
  /** Path of einmal.yaml. */
  readonly configFile: string;
  readonly roles?: readonly Role[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where the process's output goes; nowhere when absent. */
  readonly logFile?: string;
  /** `inherit`: to this process's own output. */
  readonly output?: 'inherit';
  /** Any free one when absent. */
  readonly port?: number;
}

/** One process of the service, as it runs in production: the compiled program, started by `node`. */
export interface ServiceProcess {
  readonly pid: number;
  readonly url: string;
  readonly roles: readonly Role[];
  /** Resolves with the exit code, or the signal, when the process has ended. */
  readonly exited: Promise<number | string>;
  hasEnded(): boolean;
  /** Answers when `/health/ready` does. */
  ready(): Promise<void>;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<number | string>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Resident memory at its peak so far, in MiB; Linux only. */
  peakMiB(): Promise<number | null>;
}

const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
/** As in the Dockerfile, where the reasons stand. */
const NODE_FLAGS = ['--disable-warning=TimeoutNegativeWarning', '--max-semi-space-size=16', '--max-old-space-size=448'];
export const ALL_ROLES: readonly Role[] = ['api', 'consumer', 'relay', 'dispatcher', 'maintenance'];

/** Starts one process; it ends with this one at the latest. */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const roles = options.roles ?? ALL_ROLES;
  const port = options.port ?? (await freePorts(1))[0] ?? 0;
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN], {
    stdio: options.output === 'inherit' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    env: { ...cleanEnvironment(), ...environmentOf(options, roles, port), ...options.env },
  });
  if (options.logFile) {
    const log = createWriteStream(options.logFile, { flags: 'a' });
    child.stdout?.pipe(log);
    child.stderr?.pipe(log);
  } else {
    child.stdout?.resume();
    child.stderr?.resume();
  }
  return handleOf(child, `http://127.0.0.1:${port}`, roles);
}

/** What the service would refuse as a setting of its own, or take for one. */
function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('EINMAL_') && !name.startsWith('KAFKA_'),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}

function environmentOf(options: ServiceOptions, roles: readonly Role[], port: number): Record<string, string> {
  return {
    DATABASE_URL: options.databaseUrl,
    KAFKA_BROKERS: options.kafkaBrokers,
    EINMAL_TOPIC_PREFIX: options.topicPrefix,
    EINMAL_CONFIG: options.configFile,
    EINMAL_ROLES: roles.join(','),
    PORT: String(port),
    LOG_LEVEL: 'info',
  };
}

function handleOf(child: ChildProcess, url: string, roles: readonly Role[]): ServiceProcess {
  let ended = false;
  const exited = once(child, 'exit').then(([code, signal]: unknown[]): number | string => {
    ended = true;
    return (code as number | null) ?? (signal as string);
  });
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  void exited.then(() => process.off('exit', killAtExit));
  return {
    pid: child.pid ?? 0,
    url,
    roles,
    exited,
    hasEnded: () => ended,
    ready: async () => {
      await eventually(`the service at ${url} to be ready`, 60_000, async () => {
        if (ended) throw new Error(`the service ended before it was ready: ${String(await exited)}`);
        return await answersOk(`${url}/health/ready`);
      });
    },
    stop: async () => {
      child.kill('SIGTERM');
      return await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    peakMiB: async () => await peakOf(child.pid ?? 0),
  };
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

async function peakOf(pid: number): Promise<number | null> {
  const { readFile } = await import('node:fs/promises');
  try {
    const kib = /^VmHWM:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Math.round(Number(kib) / 1024);
  } catch {
    return null;
  }
}
