import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { callByHand, fenceOf, type AnyStatement, type GuardedStatement } from './guard-case.ts';

interface Said {
  readonly claimSeq?: string;
  readonly outcome?: string;
  readonly state?: string;
  readonly uncounted?: number;
}

async function record(rig: DispatchRig, statement: AnyStatement, said: Said = {}): Promise<unknown> {
  const { claimSeq, outcome = 'accepted', state = 'accepted', uncounted = 0 } = said;
  const rows = await statement.run(rig.dataSource, {
    ...(await fenceOf(rig, 'a', claimSeq)),
    outcomes: [outcome],
    codes: ['code'],
    diagnostics: ['said'],
    effect_ids: ['effect'],
    states: [state],
    reasons: ['because'],
    delays_ms: [0],
    uncounted: [uncounted],
  });
  const outcomes = (await rig.attempts('a')).map((attempt) => attempt.outcome);
  return { held: rows.length, state: (await rig.operation('a')).state, outcomes };
}

/** The first worker's lease ended, and the next one is calling by now. */
async function calledTwice(rig: DispatchRig): Promise<void> {
  await rig.request(['a']);
  await callByHand(rig, 'a');
  await callByHand(rig, 'a');
}

export const recordResults: GuardedStatement = {
  file: 'dispatch/record-results.sql',
  cases: [
    {
      guard: 'the claim number, for the operation',
      cuts: [[' AND o.claim_seq = i.claim_seq', '']],
      seen: { held: 0, state: 'calling', outcomes: ['accepted', null] },
      scenario: async (rig, statement) => {
        await calledTwice(rig);
        return await record(rig, statement, { claimSeq: '1' });
      },
    },
    {
      guard: 'the claim number, for the evidence',
      cuts: [[' AND a.claim_seq = i.claim_seq', '']],
      seen: { held: 1, state: 'accepted', outcomes: [null, 'accepted'] },
      scenario: async (rig, statement) => {
        await calledTwice(rig);
        return await record(rig, statement);
      },
    },
    {
      guard: 'only what is being called: a second result changes nothing',
      cuts: [[` AND o.state = 'calling'`, '']],
      seen: { held: 0, state: 'accepted', outcomes: ['accepted'] },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        await record(rig, statement);
        return await record(rig, statement, { outcome: 'rejected', state: 'rejected' });
      },
    },
    {
      guard: 'evidence is written once',
      cuts: [[`\n    AND (a.outcome IS NULL OR a.outcome = 'lost')`, '']],
      seen: { held: 0, state: 'accepted', outcomes: ['accepted'] },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        await record(rig, statement);
        return await record(rig, statement, { outcome: 'rejected', state: 'rejected' });
      },
    },
    {
      guard: 'evidence that comes late replaces what was only guessed',
      cuts: [[` OR a.outcome = 'lost'`, '']],
      seen: { held: 0, state: 'unknown', outcomes: ['accepted'] },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a', -1);
        await rig.rescue();
        return await record(rig, statement, { claimSeq: '1' });
      },
    },
    {
      guard: 'waiting counts no attempt',
      cuts: [['attempts = o.attempts - i.uncounted,', '']],
      seen: 0,
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        await record(rig, statement, { outcome: 'throttled', state: 'queued', uncounted: 1 });
        return (await rig.operation('a')).attempts;
      },
    },
  ],
};
