import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { DispatchRig } from './dispatch-rig.ts';
import { eventually } from './eventually.ts';
import { startService, type Role, type ServiceProcess } from './service.ts';

export interface DispatchProcessOptions {
  readonly kafkaBrokers: string;
  readonly roles?: readonly Role[];
  readonly topicPrefix?: string;
  /** `point:action[:nth]`, as EINMAL_FAULT takes it. */
  readonly fault?: string;
  /** Parts of einmal.yaml. A provider with a kind is the whole of it, any other changes the one to the rig's sink. */
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly dispatch?: Readonly<Record<string, unknown>>;
  readonly campaigns?: Readonly<Record<string, unknown>>;
  readonly messaging?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface DispatchProcess extends ServiceProcess {
  /** Ends it if it runs, and removes its files. */
  discard(): Promise<void>;
}

/** The service as a process of its own on the database and the sink of a rig: a dispatcher unless told otherwise. */
export async function startDispatchProcess(
  rig: DispatchRig,
  options: DispatchProcessOptions,
): Promise<DispatchProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'einmal-dispatch-'));
  const configFile = join(folder, 'einmal.yaml');
  await writeFile(configFile, configText(rig, options));
  const service = await startService({
    databaseUrl: rig.database.url,
    kafkaBrokers: options.kafkaBrokers,
    topicPrefix: options.topicPrefix ?? 'rig.',
    configFile,
    roles: options.roles ?? ['dispatcher'],
    env: {
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      ...(options.fault === undefined ? {} : { EINMAL_FAULT: options.fault }),
      ...options.env,
    },
  });
  return Object.assign(service, {
    discard: async () => {
      if (!service.hasEnded()) await service.kill();
      await rm(folder, { recursive: true, force: true });
    },
  });
}

/**
 * Until the server has noticed the end of all processes on the rig's database, and rolled back what they had open.
 *
 * @param others names of those that go on
 */
export async function untilNoticed(rig: DispatchRig, others: readonly string[] = []): Promise<void> {
  await eventually('the server to notice the end', 10_000, async () => {
    const rows = await rig.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'einmal%'
         AND application_name <> ALL ($1) LIMIT 1`,
      [others],
    );
    return rows.length === 0;
  });
}

function configText(rig: DispatchRig, parts: DispatchProcessOptions): string {
  const { provider, dispatch, campaigns, messaging } = parts;
  const { host, port } = rig.sink;
  const smtp = { kind: 'smtp', host, port, security: 'none', connections: 2, timeoutSeconds: 30 };
  return stringify({
    tenants: { demo: { senders: ['news@einmal.example', 'example.org'], provider: 'main' } },
    providers: { main: provider?.['kind'] === undefined ? { ...smtp, ...provider } : provider },
    // Long leases: tests end them by hand and wait for none.
    dispatch: { leaseSeconds: 120, rescueSeconds: 600, retryBaseSeconds: 1, retryCapSeconds: 2, ...dispatch },
    ...(campaigns ? { campaigns } : {}),
    ...(messaging ? { messaging } : {}),
  });
}
