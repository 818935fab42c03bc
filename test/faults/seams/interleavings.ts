import type { DispatchRig } from '../../support/dispatch-rig.ts';
import type { SeamProvider } from '../../support/seams-worker.ts';
import type { ApiSink } from '../../support/sinks/api-sink.ts';
import { NAME, loseIntent } from './scenarios.ts';

/** What the one who is stopped does when it goes on: one pass of its loop, or one thing that somebody asks for. */
export type Doing =
  'dispatch' | 'resolve' | 'rescue' | 'cancel' | 'receipt' | 'person says sent' | 'person says not sent';

/** What another does meanwhile. */
export type Act =
  | 'rescue'
  /** Everything until nothing changes any more. */
  | 'all goes on'
  /** Another dispatcher takes it and is stopped before its call, until the first is done. */
  | 'another is about to call'
  /** As above, but it is taken for dead as well before it goes on. */
  | 'another is about to call and hangs'
  /** A person has it sent again, and then as above. */
  | 'a person resends, another is about to call'
  /** Another one that finds out, stopped before its replay. */
  | 'another is about to replay'
  | 'cancel'
  | 'receipt'
  | 'suppress'
  | 'person says sent'
  | 'person says not sent';

/** A ground for pairs: how the operation stands when the first begins, and where it may be stopped. */
export interface Ground {
  readonly name: string;
  readonly provider: SeamProvider;
  readonly doing: Doing;
  seed(rig: DispatchRig, api: ApiSink): Promise<unknown>;
  /** Whether the operation is to be unknown before the first begins. */
  readonly unknown?: boolean;
  readonly points: readonly string[];
  readonly acts: readonly Act[];
}

export interface Pair {
  readonly name: string;
  readonly ground: Ground;
  readonly point: string;
  readonly act: Act;
}

/** At this point the one that is stopped goes on with an error: its transaction is committed, and it does not know. */
export const LOSES_ANSWER = '.after-commit';

const DISPATCH_POINTS = [
  'dispatch.after-claim',
  'dispatch.after-intents',
  'dispatch.before-call',
  'dispatch.after-call',
  'dispatch.after-record',
  'record.before-commit',
  'record.after-commit',
];
const RESOLVE_POINTS = ['resolve.after-claim', 'resolve.after-record', 'resolve.before-commit', 'resolve.after-commit'];
const REPLAY_POINTS = ['resolve.after-intents', 'resolve.before-call', 'resolve.after-call', ...RESOLVE_POINTS];
const SAYS: readonly Act[] = ['cancel', 'receipt', 'suppress', 'person says sent', 'person says not sent'];
const RESEND_ACTS: readonly Act[] = [
  'another is about to call',
  'another is about to call and hangs',
  'a person resends, another is about to call',
];

const once = async (
  rig: DispatchRig,
  onUnknown: 'hold' | 'resend',
  phase: 'rcpt' | 'accepted' | null,
): Promise<void> => {
  await rig.request([NAME], { onUnknown });
  if (phase === null) return;
  const action = phase === 'rcpt' ? ({ do: 'reply', line: '450 4.2.1 later' } as const) : ({ do: 'drop' } as const);
  await rig.sink.script([{ phase, action, times: 1 }]);
};
const overApi = async (rig: DispatchRig, api: ApiSink, phase: 'body' | 'accepted'): Promise<void> => {
  await rig.request([NAME]);
  await api.script('*', [{ phase, action: { do: 'drop' }, times: 1 }]);
};

const GROUNDS: readonly Ground[] = [
  {
    name: 'a call',
    provider: 'smtp',
    doing: 'dispatch',
    seed: async (rig) => await once(rig, 'hold', null),
    points: DISPATCH_POINTS,
    acts: ['rescue', 'all goes on', ...SAYS, 'a person resends, another is about to call'],
  },
  {
    name: 'a call to be resent when lost',
    provider: 'smtp',
    doing: 'dispatch',
    seed: async (rig) => await once(rig, 'resend', null),
    points: DISPATCH_POINTS,
    acts: ['all goes on', 'another is about to call', 'another is about to call and hangs'],
  },
  {
    name: 'a call to be resent when lost, and the second is throttled',
    provider: 'smtp',
    doing: 'dispatch',
    seed: async (rig) => {
      await rig.request([NAME], { onUnknown: 'resend' });
      await rig.sink.script([{ phase: 'rcpt', action: { do: 'reply', line: '450 4.2.1 later' }, nth: 2 }]);
    },
    points: ['dispatch.after-intents', 'dispatch.before-call', 'dispatch.after-call'],
    acts: RESEND_ACTS,
  },
  {
    name: 'a call that is throttled',
    provider: 'smtp',
    doing: 'dispatch',
    seed: async (rig) => await once(rig, 'resend', 'rcpt'),
    points: DISPATCH_POINTS.slice(3),
    acts: ['all goes on', ...SAYS, ...RESEND_ACTS],
  },
  {
    name: 'an end without a call',
    provider: 'smtp',
    doing: 'dispatch',
    seed: async (rig) => {
      await rig.request([NAME]);
      await rig.suppress(NAME);
    },
    points: ['dispatch.before-append-end', 'end-claims.before-commit', 'end-claims.after-commit'],
    acts: ['rescue', 'all goes on', 'cancel', 'receipt'],
  },
  {
    name: 'a rescue',
    provider: 'smtp',
    doing: 'rescue',
    seed: async (rig) => {
      await rig.request([NAME]);
      await loseIntent(rig);
    },
    points: ['rescue.before-commit', 'rescue.after-commit'],
    acts: ['rescue', 'all goes on', ...SAYS],
  },
  {
    name: 'a replay after an effect',
    provider: 'resend',
    doing: 'resolve',
    unknown: true,
    seed: async (rig, api) => await overApi(rig, api, 'accepted'),
    points: REPLAY_POINTS,
    acts: [
      'rescue',
      'all goes on',
      'another is about to replay',
      ...SAYS,
      'a person resends, another is about to call',
    ],
  },
  {
    name: 'a replay without an effect before',
    provider: 'resend',
    doing: 'resolve',
    unknown: true,
    seed: async (rig, api) => await overApi(rig, api, 'body'),
    points: REPLAY_POINTS.slice(0, 3),
    acts: ['all goes on', 'another is about to replay', 'suppress', 'person says not sent'],
  },
  {
    name: 'a lookup',
    provider: 'postmark',
    doing: 'resolve',
    unknown: true,
    seed: async (rig, api) => await overApi(rig, api, 'accepted'),
    points: RESOLVE_POINTS,
    acts: ['all goes on', 'receipt', 'person says sent', 'person says not sent'],
  },
  {
    name: 'a policy that resends',
    provider: 'smtp',
    doing: 'resolve',
    unknown: true,
    seed: async (rig) => await once(rig, 'resend', 'accepted'),
    points: RESOLVE_POINTS,
    acts: ['rescue', 'all goes on', ...SAYS, ...RESEND_ACTS],
  },
  ...(['cancel', 'receipt'] as const).map((doing): Ground => ({
    name: `a ${doing} of what is queued`,
    provider: 'smtp',
    doing,
    seed: async (rig) => await once(rig, 'hold', null),
    points: [`${doing}.before-commit`],
    acts: ['all goes on', 'another is about to call'],
  })),
  ...(['receipt', 'person says sent', 'person says not sent'] as const).map((doing): Ground => ({
    name: `${doing} of what is unknown`,
    provider: 'resend',
    doing,
    unknown: true,
    seed: async (rig, api) => await overApi(rig, api, 'accepted'),
    points: [`${doing === 'receipt' ? 'receipt' : 'resolve-by-person'}.before-commit`],
    acts: [
      'all goes on',
      'another is about to replay',
      'receipt',
      'cancel',
      'person says sent',
      'person says not sent',
    ],
  })),
];

/** What test/integration/dispatch/interleavings.spec.ts and receipts.spec.ts hold to exact states already. */
const TOLD_ELSEWHERE = new Set([
  'a call: dispatch.after-claim, suppress',
  'a call: dispatch.after-claim, cancel',
  'a call: dispatch.after-claim, all goes on',
  'a call: dispatch.before-call, cancel',
  'a call: record.before-commit, rescue',
  'a call: record.before-commit, receipt',
  'a call: dispatch.after-call, rescue',
  'a call: dispatch.after-call, receipt',
  'a replay after an effect: resolve.after-call, rescue',
]);

/** A is stopped at the point, B acts, A goes on. */
export const PAIRS: readonly Pair[] = GROUNDS.flatMap((ground) =>
  ground.points.flatMap((point) =>
    ground.acts.map((act): Pair => ({ name: `${ground.name}: ${point}, ${act}`, ground, point, act })),
  ),
).filter(({ name }) => !TOLD_ELSEWHERE.has(name));
