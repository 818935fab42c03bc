import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { newThrowaway, removeThrowaway } from './child-records.ts';
import { claimFolder } from './folder-claim.ts';
import { loopback } from './free-ports.ts';
import { onFreePorts } from './on-free-ports.ts';
import { preparePostgresBinaries, type PostgresPlace } from './postgres-binaries.ts';
import { ensureCluster, keptDataHome, postgresEnvironment, postgresUser } from './postgres-data.ts';
import { serverHandle, type ServerHandle } from './server-handle.ts';
import { ServerProcess } from './server-process.ts';

export interface PostgresHandle extends ServerHandle {
  /** Of the empty database `einmal`; its user may create others. */
  readonly url: string;
}

export interface PostgresOptions {
  readonly log?: (line: string) => void;
  /** Over the stack's own, for example `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly place?: PostgresPlace;
}

/** Durable on purpose: commits wait for the disk as in production, since that is what tests and measurements are about. */
const stackSettings: Readonly<Record<string, string>> = {
  listen_addresses: loopback,
  // None needed, and the path of a socket in a temporary folder may be too long for the system.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  fsync: 'on',
  synchronous_commit: 'on',
  autovacuum: 'on',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

interface Launch {
  readonly binaries: string;
  readonly home: string;
  readonly logFile: string;
  readonly throwaway: boolean;
  readonly rememberedPort: number | null;
  readonly settings: Readonly<Record<string, string>>;
  readonly afterStop: (() => void) | null;
}

/** A server of one's own whose data is thrown away at `stop`. @throws StackUnavailable */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresHandle> {
  const binaries = await preparePostgresBinaries(options.place);
  const home = newThrowaway('postgres');
  const logFile = join(home, 'postgres.log');
  const settings = options.settings ?? {};
  return await launch({ binaries, home, logFile, settings, throwaway: true, rememberedPort: null, afterStop: null });
}

/**
 * The server whose data is kept in `folder`, at the port it had before. Without handle: another process runs it already.
 * @throws StackUnavailable
 */
export async function openPostgres(
  folder: string,
  options: PostgresOptions = {},
): Promise<{ url: string; handle: PostgresHandle | null }> {
  const claim = await claimFolder(folder);
  if (claim.kind === 'in-use') {
    options.log?.(`PostgreSQL is running already, started by process ${claim.ownerPid}: using that`);
    return { url: claim.address, handle: null };
  }
  try {
    const binaries = await preparePostgresBinaries(options.place);
    const home = keptDataHome(folder, options.place?.sharedDataFolders);
    if (home !== folder)
      options.log?.(`PostgreSQL's data is in ${home}: as root it must be where every user may enter`);
    const portFile = join(folder, 'port');
    const rememberedPort = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : null;
    const logFile = join(folder, 'postgres.log');
    const settings = options.settings ?? {};
    const afterStop = claim.release;
    const handle = await launch({ binaries, home, logFile, settings, throwaway: false, rememberedPort, afterStop });
    writeFileSync(portFile, new URL(handle.url).port);
    claim.publish(handle.url);
    return { url: handle.url, handle };
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function launch(how: Launch): Promise<PostgresHandle> {
  const remembered = how.rememberedPort === null ? null : [how.rememberedPort];
  try {
    mkdirSync(how.home, { recursive: true });
    const data = await ensureCluster(how.binaries, how.home, !how.throwaway);
    const { server, ports } = await onFreePorts(1, remembered, ([port = 0]) => Promise.resolve(plan(how, data, port)));
    const [port = 0] = ports;
    await ensureDatabase(port).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return Object.assign(serverHandle(server), { url: `postgresql://einmal@${loopback}:${port}/einmal` });
  } catch (error) {
    if (how.throwaway) removeThrowaway(how.home);
    throw error;
  }
}

function plan(how: Launch, data: string, port: number): ServerProcess {
  const settings = Object.entries({ ...stackSettings, ...how.settings });
  return new ServerProcess({
    kind: 'postgres',
    command: join(how.binaries, 'bin', 'postgres'),
    parameters: ['-D', data, '-p', String(port), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    environment: postgresEnvironment(),
    workingFolder: data,
    user: postgresUser(),
    logFile: how.logFile,
    gentleSignal: 'SIGINT',
    // Not SIGKILL: that would leave a shared memory segment in the system until the next boot.
    quickSignal: 'SIGQUIT',
    throwawayFolder: how.throwaway ? how.home : null,
    afterStop: how.afterStop,
    isReady: () => answersFrom(data, port),
  });
}

/** True when it is our server that answers: another one may have got the port before ours. */
async function answersFrom(data: string, port: number): Promise<boolean> {
  const answer = await ask(port, `SELECT current_setting('data_directory') AS folder`).catch(() => []);
  return answer.some((row) => row['folder'] === data);
}

async function ensureDatabase(port: number): Promise<void> {
  const found = await ask(port, `SELECT 1 FROM pg_database WHERE datname = 'einmal'`);
  if (found.length === 0) await ask(port, 'CREATE DATABASE einmal');
}

async function ask(port: number, sql: string): Promise<Array<Record<string, unknown>>> {
  const where = { host: loopback, port, user: 'einmal', database: 'postgres', ssl: false };
  const client = new Client({ ...where, connectionTimeoutMillis: 5000, query_timeout: 30_000 });
  client.on('error', () => {}); // Every failure also rejects the call below.
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
