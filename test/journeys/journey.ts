import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerLive, unregisterLive } from '../support/stack/live-servers.ts';
import { pollUntil } from '../support/stack/poll-until.ts';
import { createWorld, type ConfigParts, type World } from '../support/world.ts';
import { Crew } from './crew.ts';
import { Ledger, type Standing } from './ledger.ts';
import { expectedAudience, readRecipients, writeRecipients, type Recipient } from './recipients.ts';

export interface JourneyOptions {
  readonly databaseUrl: string;
  readonly kafkaBrokers: string;
  readonly recipients: number;
  /** Parts of the configuration. */
  readonly config?: ConfigParts;
  /** A configuration of one's own, which takes the sink from SMTP_HOST and SMTP_PORT. */
  readonly configFile?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** One campaign from a peer's CSV file to the mail sink, with all that it needs. */
export interface Journey {
  readonly world: World;
  readonly crew: Crew;
  readonly ledger: Ledger;
  /** What the peer's file holds. */
  readonly recipients: readonly Recipient[];
  /** Whom the campaign must reach: address key -> subscriber. */
  readonly expected: ReadonlyMap<string, string>;
  /** Output of all service processes. */
  readonly logFile: string;
  /** Stops everything and removes it. May be called again. */
  close(options?: { readonly keepLogs: boolean }): Promise<void>;
}

export const CAMPAIGN_ID = 'spring-news';
export const SENDER = { mailbox: 'Einmal News <news@einmal.example>', domain: 'einmal.example' } as const;

export async function openJourney(options: JourneyOptions): Promise<Journey> {
  const { databaseUrl, kafkaBrokers, config, configFile, env } = options;
  const world = await createWorld({
    databaseUrl,
    kafkaBrokers,
    sink: { recordArrivals: true },
    ...(config ? { config } : {}),
  });
  const folder = await mkdtemp(join(tmpdir(), 'einmal-journey-'));
  const logFile = join(folder, 'service.log');
  const csvFile = join(folder, 'recipients.csv');
  await writeRecipients(csvFile, options.recipients);
  const recipients = await readRecipients(csvFile);
  const ledger = new Ledger(world.databaseUrl, CAMPAIGN_ID);
  const crew = new Crew({
    databaseUrl: world.databaseUrl,
    kafkaBrokers,
    topicPrefix: world.topicPrefix,
    configFile: configFile ?? world.configFile,
    logFile,
    env: { SMTP_HOST: world.sink.host, SMTP_PORT: String(world.sink.port), ...env },
  });
  const close = async (keepLogs: boolean): Promise<void> => {
    await crew.stop();
    await ledger.close();
    await world.tearDown();
    if (!keepLogs) await rm(folder, { recursive: true, force: true });
    unregisterLive(live);
  };
  let closed: Promise<void> | undefined;
  const closeOnce = async (closing = { keepLogs: false }): Promise<void> => await (closed ??= close(closing.keepLogs));
  // What a signal stops before the stack below it.
  const live = { stop: closeOnce, abandon: () => {} };
  registerLive(live);
  return { world, crew, ledger, recipients, expected: expectedAudience(recipients), logFile, close: closeOnce };
}

export interface Watch {
  readonly what: string;
  readonly deadlineMs: number;
  readonly until: (standing: Standing) => boolean;
  readonly onStanding?: (standing: Standing) => Promise<void> | void;
}

/** Counting rows costs the database time that it then lacks for mails; with many, it is looked at less often. */
const LOOK_EVERY_MS = { few: 100, many: 500 };
const MANY = 10_000;

/** Looks at the ledger again and again. @throws Error when it takes too long or a process ends by itself */
export async function watch({ ledger, crew, recipients }: Journey, task: Watch): Promise<Standing> {
  const everyMs = recipients.length > MANY ? LOOK_EVERY_MS.many : LOOK_EVERY_MS.few;
  const found = await pollUntil(
    async () => {
      const standing = await ledger.standing();
      await task.onStanding?.(standing);
      if (crew.crashes.length > 0) throw new Error(crew.crashes.join('; '));
      return task.until(standing) ? standing : null;
    },
    { deadlineMs: task.deadlineMs, everyMs },
  );
  if (!found) throw new Error(`waited ${Math.round(task.deadlineMs / 1000)} s in vain for ${task.what}`);
  return found;
}
