import { storableJson } from '../messaging/storable-text.ts';
import type { FrozenSteps } from '../operations/steps/frozen-steps.ts';
import type { Checkpoint } from '../operations/steps/store-checkpoints.ts';
import type { CallOutcome } from '../providers/provider.port.ts';
import type { ClaimedRow } from './claimed-operation.ts';

type Called = Pick<ClaimedRow, 'tenant_id' | 'operation_id' | 'claim_seq' | 'kind' | 'step' | 'request'>;

/** What a call has answered, kept where somebody may ask for it: the steps after it, or whoever asks for the operation again. */
export function checkpointOf(operation: Called, outcome: CallOutcome, inputHash: Buffer | null): Checkpoint[] {
  if (outcome.kind !== 'accepted' || operation.kind === 'email') return [];
  const step = operation.kind === 'steps' ? (operation.request as FrozenSteps).steps[operation.step] : undefined;
  return [
    {
      tenantId: operation.tenant_id,
      operationId: operation.operation_id,
      step: operation.step,
      name: step?.name ?? null,
      version: step?.version ?? null,
      inputHash,
      result: outcome.result === undefined ? null : storableJson(outcome.result).json,
      effectId: outcome.effectId,
      claimNumber: operation.claim_seq,
    },
  ];
}
