import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { callByHand, claimByHand, whileHeld, type AnyStatement, type GuardedStatement } from './guard-case.ts';

async function rescue(rig: DispatchRig, statement: AnyStatement): Promise<unknown> {
  await statement.run(rig.dataSource, { limit: 10, max_crashes: 5 });
  const { state, claim_seq } = await rig.operation('a');
  return { state, number: claim_seq };
}

/** A worker stores its result at the last moment and has not committed yet. */
const RECORD = `UPDATE operations SET state = 'accepted', claimed_by = NULL, lease_until = NULL`;

export const rescueExpired: GuardedStatement = {
  file: 'dispatch/rescue-expired.sql',
  cases: [
    {
      guard: 'only past the lease',
      cuts: [[' AND lease_until <= now()', '']],
      seen: { state: 'claimed', number: '1' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        return await rescue(rig, statement);
      },
    },
    {
      guard: 'an intent without a result is unknown, never queued',
      cuts: [[`CASE WHEN e.state <> 'claimed' THEN 'unknown' WHEN`, `CASE WHEN`]],
      seen: { state: 'unknown', number: '2' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a', -1);
        return await rescue(rig, statement);
      },
    },
    {
      guard: 'what takes its workers down ends',
      cuts: [[`WHEN o.crashes + 1 >= :max_crashes THEN 'dead' `, '']],
      seen: { state: 'dead', number: '2' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a', -1);
        await rig.query('UPDATE operations SET crashes = 4');
        return await rescue(rig, statement);
      },
    },
    {
      guard: 'a new claim number',
      cuts: [['claim_seq = o.claim_seq + 1, ', '']],
      seen: { state: 'queued', number: '2' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a', -1);
        return await rescue(rig, statement);
      },
    },
    {
      guard: 'a result that is being stored at this moment',
      cuts: [
        ['\n  FOR NO KEY UPDATE SKIP LOCKED', ''],
        [' AND o.claim_seq = e.claim_seq AND o.state = e.state', ''],
      ],
      seen: { state: 'accepted', number: '1' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a', -1);
        await whileHeld(rig, RECORD, async () => await statement.run(rig.dataSource, { limit: 10, max_crashes: 5 }));
        const { state, claim_seq } = await rig.operation('a');
        return { state, number: claim_seq };
      },
    },
    {
      guard: 'SKIP LOCKED: the rescue waits for nobody',
      cuts: [[' SKIP LOCKED', '']],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a', -1);
        return (
          await whileHeld(rig, RECORD, async () => await statement.run(rig.dataSource, { limit: 10, max_crashes: 5 }))
        ).waited;
      },
    },
    {
      guard: 'a page at a time',
      cuts: [['LIMIT :limit', 'LIMIT :limit::integer + 100']],
      seen: 1,
      scenario: async (rig, statement) => {
        await rig.request(['a', 'b']);
        await claimByHand(rig, 'a', -1);
        await claimByHand(rig, 'b', -1);
        return (await statement.run(rig.dataSource, { limit: 1, max_crashes: 5 })).length;
      },
    },
  ],
};
