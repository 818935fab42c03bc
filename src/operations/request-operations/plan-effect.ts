import type { TenantConfig } from '../../config/einmal-config.ts';
import { parseAddress } from '../../mail/address.ts';
import { parseMailbox } from '../../mail/mailbox.ts';
import type { DataOf } from '../../messaging/contracts/registry.ts';
import type { NewOperation } from './insert-operations.ts';
import { defaultSender } from '../../tenants/default-sender.ts';
import { senderIsAllowed } from '../../tenants/sender-is-allowed.ts';

export type OperationRequest = DataOf<'einmal.operation.requested.v1'>;
export type EmailRequest = Extract<OperationRequest, { kind: 'email' }>['request'];
export type HttpRequest = Extract<OperationRequest, { kind: 'http' }>['request'];

/** What depends on the kind: who is called first, what has to be approved for that, and the request as it is kept. */
export interface KindPlan {
  readonly fault: string | null;
  readonly provider: string;
  readonly addressKey: string | null;
  readonly approval: NewOperation['approval'];
  readonly approvalHash: Buffer | null;
  readonly stepReferences: readonly string[];
  readonly request: unknown;
}

/** One effect as it can be carried out, or why it never can. */
export interface EffectPlan<R> {
  readonly fault: string | null;
  readonly provider: string;
  readonly addressKey: string | null;
  readonly request: R;
}

export function planEmail(request: EmailRequest, tenant: TenantConfig): EffectPlan<EmailRequest> {
  const to = parseAddress(request.to);
  return {
    fault: emailFault(request, tenant),
    provider: tenant.provider,
    addressKey: to.ok ? to.key : null,
    request: frozen(request, tenant),
  };
}

export function planCall(request: HttpRequest, tenant: TenantConfig): EffectPlan<HttpRequest> {
  const known = tenant.providers.includes(request.endpoint);
  return {
    fault: known ? null : 'request.endpoint: no endpoint of this name is configured',
    provider: known ? request.endpoint : tenant.provider,
    addressKey: null,
    request,
  };
}

/** What the configuration adds is added once: a changed default sender changes no operation that is in the ledger. */
function frozen(request: EmailRequest, tenant: TenantConfig): EmailRequest {
  const from = request.from ?? defaultSender(tenant);
  return from === undefined ? request : { ...request, from };
}

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
