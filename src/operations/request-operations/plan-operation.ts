import type { TenantConfig } from '../../config/einmal-config.ts';
import type { ConsumedEvent } from '../../messaging/inbox/consumed-event.ts';
import { operationId } from '../operation-id.ts';
import { HASH_VERSION, payloadHash } from '../payload-hash.ts';
import type { NewOperation } from './insert-operations.ts';
import { planCall, planEmail, type KindPlan, type OperationRequest } from './plan-effect.ts';
import { planSteps } from './plan-steps.ts';

export type { OperationRequest } from './plan-effect.ts';

const DEFAULT_PRIORITY = 5;

export interface OperationDefaults {
  readonly maxAttempts: number;
  /** Providers that are peers on Kafka. */
  readonly peers?: ReadonlySet<string>;
}

/** A request from either entrance; `id` names it as the cause of what follows. `time`: when it was made; absent: just now. */
export type ReceivedRequest = Pick<ConsumedEvent<OperationRequest>, 'id' | 'tenantId' | 'traceparent' | 'data'> &
  Partial<Pick<ConsumedEvent, 'time'>>;

/**
 * The ledger row that a request asks for. A request that can never be carried out is a row as well, in the state
 * `rejected` with the reason: its key is taken, and asking again gives the same answer.
 */
export function planOperation(event: ReceivedRequest, tenant: TenantConfig, defaults: OperationDefaults): NewOperation {
  const { data, tenantId } = event;
  const id = operationId(tenantId, data.operationKey);
  const plan =
    data.kind === 'steps'
      ? planSteps(id, data.request, data.approval, tenant, defaults.peers ?? new Set())
      : planSingle(data, tenant);
  const { fault } = plan;
  return {
    tenantId,
    operationId: id,
    operationKey: data.operationKey,
    kind: data.kind,
    class: data.class ?? (data.kind === 'email' ? data.request.class : undefined) ?? 'transactional',
    payloadHash: Buffer.from(payloadHash(data).slice('sha256:'.length), 'hex'),
    hashVersion: HASH_VERSION,
    state: fault ? 'rejected' : plan.approval ? 'awaiting-approval' : 'queued',
    stateReason: fault,
    provider: plan.provider,
    priority: data.priority ?? DEFAULT_PRIORITY,
    campaign: null,
    addressKey: plan.addressKey,
    lists: [],
    approval: plan.approval,
    approvalHash: plan.approvalHash,
    stepReferences: plan.stepReferences,
    notBefore: data.notBefore ?? null,
    deadline: data.deadline ?? null,
    maxAttempts: data.maxAttempts ?? defaults.maxAttempts,
    onUnknown: data.onUnknown ?? tenant.onUnknown ?? 'hold',
    causationId: event.id,
    traceparent: event.traceparent ?? null,
    request: plan.request,
  };
}

function planSingle(data: Exclude<OperationRequest, { kind: 'steps' }>, tenant: TenantConfig): KindPlan {
  const part = data.kind === 'email' ? planEmail(data.request, tenant) : planCall(data.request, tenant);
  return { ...part, approval: data.approval ?? null, approvalHash: null, stepReferences: [] };
}
