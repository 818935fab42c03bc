import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { callByHand, claimByHand, type AnyStatement, type GuardedStatement } from './guard-case.ts';

async function cancelled(rig: DispatchRig, statement: AnyStatement, tenant = 'demo'): Promise<unknown> {
  const { operation_id } = await rig.operation('a');
  await statement.run(rig.dataSource, { tenants: [tenant], operation_ids: [operation_id] });
  const { state, claim_seq } = await rig.operation('a');
  return { state, number: claim_seq };
}

export const cancelUncalled: GuardedStatement = {
  file: 'erasure/cancel-uncalled.sql',
  cases: [
    {
      guard: 'not what is being called',
      cuts: [[`\n  AND o.state IN ('awaiting-approval', 'queued', 'claimed')`, '']],
      seen: { state: 'calling', number: '1' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await callByHand(rig, 'a');
        return await cancelled(rig, statement);
      },
    },
    {
      guard: 'a new claim number, so that its worker writes nothing more',
      cuts: [[`claim_seq = o.claim_seq + (o.state = 'claimed')::integer,`, '']],
      seen: { state: 'cancelled', number: '2' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await claimByHand(rig, 'a');
        return await cancelled(rig, statement);
      },
    },
    {
      guard: 'only this tenant',
      cuts: [['o.tenant_id = i.tenant_id AND ', '']],
      seen: { state: 'queued', number: '0' },
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        return await cancelled(rig, statement, 'other');
      },
    },
  ],
};
