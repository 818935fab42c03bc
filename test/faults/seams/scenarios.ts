import type { DataSource } from 'typeorm';
import type { Rate } from '../../../src/dispatch/claim-operations.ts';
import { rescueExpired } from '../../../src/dispatch/rescue-expired.ts';
import { onReach } from '../../../src/runtime/signal.ts';
import type { DispatchRig } from '../../support/dispatch-rig.ts';
import type { WorkerPlace } from '../../support/dispatch-worker.ts';
import type { SeamProvider } from '../../support/seams-worker.ts';
import type { ApiSink } from '../../support/sinks/api-sink.ts';
import { cancelIt, reportIt } from './acts.ts';
import { LedgerClock } from './ledger-clock.ts';

/** What the worker under test meets on its road, in its own process. */
export interface Meanwhile {
  readonly place: WorkerPlace;
  /** Connections of somebody else. */
  readonly others: DataSource;
}

export interface Scenario {
  readonly name: string;
  readonly provider: SeamProvider;
  readonly rate?: Rate;
  /** Whether the worker under test also rescues. */
  readonly rescues?: boolean;
  /** Whether roads of several operations overlap: then one run may gather what another does one by one. */
  readonly overlaps?: boolean;
  /** The operations, and how the provider answers. */
  seed(rig: DispatchRig, api: ApiSink): Promise<unknown>;
  /** Armed in the process of the worker under test; the returned function disarms it. */
  meanwhile?(meanwhile: Meanwhile): () => void;
  /** What its sender repeats when it was not acknowledged. */
  redeliver?(rig: DispatchRig): Promise<unknown>;
}

export const NAME = 'a';
const OBJECT = { object: 'offer', revision: 1 };

/** Answers to the first call only. */
const smtpOnce = async (rig: DispatchRig, phase: 'rcpt' | 'dot' | 'accepted', line?: string): Promise<void> => {
  const action = line === undefined ? ({ do: 'drop' } as const) : ({ do: 'reply', line } as const);
  await rig.sink.script([{ phase, action, times: 1 }]);
};
const apiOnce = async (api: ApiSink, phase: 'body' | 'accepted'): Promise<void> =>
  await api.script('*', [{ phase, action: { do: 'drop' }, times: 1 }]);

export const SCENARIOS: readonly Scenario[] = [
  { name: 'dispatch', provider: 'smtp', seed: async (rig) => await rig.request([NAME]) },
  {
    name: 'dispatch three',
    provider: 'smtp',
    overlaps: true,
    seed: async (rig) => await rig.request([NAME, 'b', 'c']),
  },
  {
    name: 'dispatch of a campaign',
    provider: 'smtp',
    seed: async (rig) => await rig.campaign('c1', [NAME]),
  },
  {
    name: 'throttled at first, within a rate',
    provider: 'smtp',
    rate: { perSecond: 10_000, burst: 100 },
    seed: async (rig) => {
      await rig.request([NAME]);
      await smtpOnce(rig, 'rcpt', '450 4.2.1 too fast');
    },
  },
  {
    name: 'lost and held',
    provider: 'smtp',
    rescues: true,
    seed: async (rig) => {
      await rig.request([NAME]);
      await loseIntent(rig);
    },
  },
  {
    name: 'replay of a key that had its effect',
    provider: 'resend',
    seed: async (rig, api) => {
      await rig.request([NAME]);
      await apiOnce(api, 'accepted');
    },
  },
  {
    name: 'replay of a key that had none',
    provider: 'resend',
    seed: async (rig, api) => {
      await rig.request([NAME]);
      await apiOnce(api, 'body');
    },
  },
  {
    name: 'lookup that hits',
    provider: 'postmark',
    seed: async (rig, api) => {
      await rig.request([NAME]);
      await apiOnce(api, 'accepted');
    },
  },
  {
    name: 'lookups that miss, then resend',
    provider: 'postmark',
    seed: async (rig, api) => {
      await rig.request([NAME], { onUnknown: 'resend' });
      await apiOnce(api, 'body');
    },
  },
  {
    name: 'resend after an effect',
    provider: 'smtp',
    seed: async (rig) => {
      await rig.request([NAME], { onUnknown: 'resend' });
      await smtpOnce(rig, 'accepted');
    },
  },
  {
    name: 'suppressed',
    provider: 'smtp',
    seed: async (rig) => {
      await rig.request([NAME]);
      await rig.suppress(NAME);
    },
  },
  {
    name: 'not approved',
    provider: 'smtp',
    seed: async (rig) => await rig.request([NAME], { approval: OBJECT }),
  },
  {
    name: 'cancelled after the claim',
    provider: 'smtp',
    seed: async (rig) => await rig.request([NAME]),
    meanwhile: ({ place }) =>
      firstTime('dispatch.after-claim', async () => {
        // Its sender does not hear of it and repeats it.
        await cancelIt(place, NAME).catch(() => undefined);
      }),
    redeliver: async (rig) => await cancelIt(rig, NAME),
  },
  {
    name: 'an answer after the rescue',
    provider: 'smtp',
    seed: async (rig) => await rig.request([NAME]),
    meanwhile: ({ place, others }) =>
      firstTime('dispatch.after-call', async () => {
        await new LedgerClock(others).endLeases();
        await rescueExpired(others, place.events, place.outbox, { limit: 500, maxCrashes: 10 });
      }),
  },
  {
    name: 'a receipt before the record',
    provider: 'smtp',
    seed: async (rig) => await rig.request([NAME], { onUnknown: 'resend' }),
    meanwhile: ({ place, others }) =>
      firstTime('dispatch.after-call', async () => await reportIt({ ...place, dataSource: others }, NAME)),
  },
];

export function scenarioNamed(name: string): Scenario {
  const scenario = SCENARIOS.find((each) => each.name === name);
  if (!scenario) throw new Error(`no scenario is called ${name}`);
  return scenario;
}

function firstTime(point: string, act: () => Promise<void>): () => void {
  const disarm = onReach(point, async () => {
    disarm();
    await act();
  });
  return disarm;
}

/** A worker has died between its intent and the record, and its lease is over. */
export async function loseIntent(rig: DispatchRig): Promise<void> {
  await rig.query(
    `UPDATE operations SET state = 'calling', claim_seq = 1, attempts = 1, claimed_by = gen_random_uuid(),
       lease_until = now() - interval '1 second'`,
  );
  await rig.query(
    `INSERT INTO attempts (tenant_id, operation_id, claim_seq, provider, worker)
     SELECT tenant_id, operation_id, 1, 'main', gen_random_uuid() FROM operations`,
  );
}
