import type { TenantConfig } from '../../config/einmal-config.ts';
import { parseAddress } from '../../mail/address.ts';
import { parseMailbox } from '../../mail/mailbox.ts';
import { defaultSender } from '../../tenants/default-sender.ts';
import { senderIsAllowed } from '../../tenants/sender-is-allowed.ts';
import type { DataOf } from '../../messaging/contracts/registry.ts';
import type { ConsumedEvent } from '../../messaging/inbox/consumed-event.ts';
import { operationId } from '../operation-id.ts';
import { HASH_VERSION, payloadHash } from '../payload-hash.ts';
import type { NewOperation } from './insert-operations.ts';

export type OperationRequest = DataOf<'einmal.operation.requested.v1'>;

const DEFAULT_PRIORITY = 5;

export interface OperationDefaults {
  readonly maxAttempts: number;
}

/**
 * The ledger row that a request asks for. A request that can never be carried out is a row as well, in the state
 * `rejected` with the reason: its key is taken, and asking again gives the same answer.
 */
export function planOperation(
  event: ConsumedEvent<OperationRequest>,
  tenant: TenantConfig,
  defaults: OperationDefaults,
): NewOperation {
  const { data, tenantId } = event;
  const fault = data.kind === 'email' ? emailFault(data.request, tenant) : endpointFault(data.request, tenant);
  const address = data.kind === 'email' ? parseAddress(data.request.to) : undefined;
  return {
    tenantId,
    operationId: operationId(tenantId, data.operationKey),
    operationKey: data.operationKey,
    kind: data.kind,
    class: data.class ?? (data.kind === 'email' ? data.request.class : undefined) ?? 'transactional',
    payloadHash: Buffer.from(payloadHash(data).slice('sha256:'.length), 'hex'),
    hashVersion: HASH_VERSION,
    state: fault ? 'rejected' : data.approval ? 'awaiting-approval' : 'queued',
    stateReason: fault,
    provider: data.kind === 'http' && fault === null ? data.request.endpoint : tenant.provider,
    priority: data.priority ?? DEFAULT_PRIORITY,
    campaign: null,
    addressKey: address?.ok ? address.key : null,
    lists: [],
    approval: data.approval ?? null,
    notBefore: data.notBefore ?? null,
    deadline: data.deadline ?? null,
    maxAttempts: data.maxAttempts ?? defaults.maxAttempts,
    onUnknown: data.onUnknown ?? tenant.onUnknown ?? 'hold',
    causationId: event.id,
    traceparent: event.traceparent ?? null,
    request: data.kind === 'email' ? frozen(data.request, tenant) : data.request,
  };
}

/** What the configuration adds is added once: a changed default sender changes no operation that is in the ledger. */
function frozen(request: EmailRequest, tenant: TenantConfig): EmailRequest {
  const from = request.from ?? defaultSender(tenant);
  return from === undefined ? request : { ...request, from };
}

function endpointFault({ endpoint }: HttpRequest, tenant: TenantConfig): string | null {
  return tenant.providers.includes(endpoint) ? null : 'request.endpoint: no endpoint of this name is configured';
}

type EmailRequest = Extract<OperationRequest, { kind: 'email' }>['request'];
type HttpRequest = Extract<OperationRequest, { kind: 'http' }>['request'];

function emailFault(request: EmailRequest, tenant: TenantConfig): string | null {
  const to = parseAddress(request.to);
  if (!to.ok) return `request.to: ${to.rule}`;
  if (request.template !== undefined) return 'request.template: no template of this name is configured';
  if ((request.attachments ?? []).length > 0) return 'request.attachments: attachments are not sent yet';
  if (request.from === undefined)
    return defaultSender(tenant) ? null : 'request.from: the tenant has no default sender';
  const from = parseMailbox(request.from);
  if (!from.ok) return `request.from: ${from.rule}`;
  return senderIsAllowed(tenant, from.address) ? null : 'request.from: not a sender of this tenant';
}
