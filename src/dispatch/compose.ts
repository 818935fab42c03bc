import type { DataSource } from 'typeorm';
import { loadStatement } from '../database/statement.ts';
import { parseAddress, type ParsedAddress } from '../mail/address.ts';
import { compileMail, type CompiledMail, type MailSource } from '../mail/compile-mail.ts';
import { mailIdentity } from '../mail/mail-identity.ts';
import { hashText } from '../operations/operation-events.ts';
import { stepReference } from '../operations/operation-id.ts';
import type { FrozenStep, FrozenSteps } from '../operations/steps/frozen-steps.ts';
import { readResults } from '../operations/steps/read-results.ts';
import { renderStep } from '../operations/steps/render-step.ts';
import type { Outgoing, OutgoingHttp } from '../providers/provider.port.ts';
import { ServiceError } from '../runtime/service-error.ts';
import type { TenantDirectory } from '../tenants/tenant-directory.ts';
import { defaultSender } from '../tenants/default-sender.ts';
import type { ClaimedRow } from './claimed-operation.ts';

export type Composed =
  | {
      readonly ok: true;
      readonly outgoing: Outgoing;
      /** Of a step's request as it was rendered. */
      readonly inputHash?: Buffer;
    }
  | { readonly ok: false; readonly rule: string };

/** What composing needs of an operation; a claimed one has it. */
export type Composable = Pick<
  ClaimedRow,
  | 'tenant_id'
  | 'operation_id'
  | 'operation_key'
  | 'kind'
  | 'step'
  | 'class'
  | 'payload_hash'
  | 'campaign_id'
  | 'revision'
  | 'created_at'
  | 'request'
>;

/** What a campaign's operation keeps of its subscriber. */
interface FrozenRequest {
  readonly to: string;
  readonly subscriber: Readonly<Record<string, unknown>>;
}

/** The request of a single operation, as received. */
interface EmailRequest extends Omit<MailSource, 'from' | 'html'> {
  readonly to: string;
  readonly from?: string;
  readonly html?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The request of an operation of kind `http`, as received. */
interface HttpRequest {
  readonly method: OutgoingHttp['method'];
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const loadRevision = loadStatement<{ tenant: string; campaign: string; revision: string }, { content: MailSource }>(
  import.meta.url,
  'load-revision.sql',
);

/** Compiled revisions kept at a time: as many campaigns as send at once, with room. Each is a few times its HTML. */
const KEPT_REVISIONS = 32;

/**
 * Makes of an operation what its provider is asked to do, from the frozen request and the immutable revision alone, so that
 * each attempt has the same bytes. A revision is compiled once per process.
 */
export class Composer {
  readonly #revisions = new Map<string, Promise<CompiledMail | string>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly tenants: TenantDirectory,
  ) {}

  async compose(operation: Composable): Promise<Composed> {
    if (operation.request === null) return { ok: false, rule: 'the request is no longer there' };
    const reference = operation.operation_id;
    if (operation.kind === 'steps') return await this.#composeStep(operation, operation.request as FrozenSteps);
    if (operation.kind === 'http') return composeHttp(reference, operation.request as HttpRequest);
    const request = operation.request as FrozenRequest | EmailRequest;
    const address = parseAddress(request.to);
    if (!address.ok) return { ok: false, rule: `to: ${address.rule}` };
    return 'subscriber' in request
      ? await this.#composeForCampaign(operation, request, address)
      : this.#composeSingle(operation, request, address);
  }

  /** What the step is to do, with what earlier ones have answered. */
  async #composeStep(operation: Composable, { steps }: FrozenSteps): Promise<Composed> {
    const step = steps[operation.step];
    if (!step) return { ok: false, rule: 'the step is no longer there' };
    const results = await readResults(this.dataSource, operation);
    const rendered = renderStep(step, results, operation.created_at);
    if (!rendered.ok) return rendered;
    const reference = stepReference(operation.operation_id, step.name, step.version);
    const composed = this.#composeRendered({ ...operation, operation_id: reference }, step.kind, rendered.request);
    return composed.ok ? { ...composed, inputHash: rendered.inputHash } : composed;
  }

  #composeRendered(operation: Composable, kind: FrozenStep['kind'], request: object): Composed {
    if (kind === 'http') return composeHttp(operation.operation_id, request as HttpRequest);
    const mail = { ...(request as EmailRequest), isRendered: true };
    const to = parseAddress(mail.to);
    return to.ok ? this.#composeSingle(operation, mail, to) : { ok: false, rule: `to: ${to.rule}` };
  }

  async #composeForCampaign(operation: Composable, request: FrozenRequest, to: ParsedAddress): Promise<Composed> {
    const compiled = await this.#revision(operation);
    if (typeof compiled === 'string') return { ok: false, rule: compiled };
    return fillMail(operation, compiled, to, {
      subscriber: request.subscriber,
      campaign: { id: operation.campaign_id },
    });
  }

  #composeSingle(operation: Composable, request: EmailRequest, to: ParsedAddress): Composed {
    const tenant = this.tenants.get(operation.tenant_id);
    const from = request.from ?? (tenant && defaultSender(tenant));
    if (from === undefined) return { ok: false, rule: 'from: the tenant has no default sender' };
    const { replyTo, subject, html, text, headers, isRendered = false } = request;
    const compiled = compileMail({
      from,
      subject,
      isRendered,
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(html === undefined ? {} : { html }),
      ...(text === undefined ? {} : { text }),
      ...(headers === undefined ? {} : { headers }),
    });
    if (!compiled.ok) return { ok: false, rule: `${compiled.field}: ${compiled.rule}` };
    return fillMail(operation, compiled.mail, to, request.data ?? {});
  }

  #revision(operation: Composable): Promise<CompiledMail | string> {
    const key = JSON.stringify([operation.tenant_id, operation.campaign_id, operation.revision]);
    const known = this.#revisions.get(key);
    if (known) return known;
    const compiled = this.#compileRevision(operation);
    this.#revisions.set(key, compiled);
    // A failed load must not stay: the next claim tries again.
    compiled.catch(() => this.#revisions.delete(key));
    const oldest = this.#revisions.keys().next();
    if (this.#revisions.size > KEPT_REVISIONS && !oldest.done) this.#revisions.delete(oldest.value);
    return compiled;
  }

  async #compileRevision(operation: Composable): Promise<CompiledMail | string> {
    const { tenant_id: tenant, campaign_id: campaign, revision } = operation;
    if (campaign === null || revision === null)
      throw new ServiceError('no-revision', 'the operation names no revision', { retryable: false });
    const [row] = await loadRevision.run(this.dataSource, { tenant, campaign, revision });
    if (!row) return 'the revision is not there';
    const { from, replyTo, subject, html, text } = row.content;
    const compiled = compileMail({
      from,
      subject,
      ...(html === undefined ? {} : { html }),
      ...(replyTo === undefined ? {} : { replyTo }),
      ...(text === undefined ? {} : { text }),
    });
    return compiled.ok ? compiled.mail : `${compiled.field}: ${compiled.rule}`;
  }
}

function fillMail(
  operation: Composable,
  compiled: CompiledMail,
  to: ParsedAddress,
  data: Readonly<Record<string, unknown>>,
): Composed {
  const domain = compiled.from.slice(compiled.from.lastIndexOf('@') + 1);
  // The ledger's time of the operation, so that a later attempt carries the same Date.
  const filled = compiled.fill({
    to: to.send,
    ...mailIdentity(operation.operation_id, domain),
    date: operation.created_at,
    data,
  });
  if (!filled.ok) return filled;
  const { subject, html, text, raw } = filled;
  return {
    ok: true,
    outgoing: {
      kind: 'email',
      reference: operation.operation_id,
      envelope: { from: compiled.from, to: to.send },
      parts: { ...compiled.sender, to: to.send, subject, html, text },
      raw,
      about: {
        tenantId: operation.tenant_id,
        operationKey: operation.operation_key,
        payloadHash: hashText(operation.payload_hash),
        class: operation.class,
        campaignId: operation.campaign_id,
      },
    },
  };
}

function composeHttp(reference: string, request: HttpRequest): Composed {
  const { method, path, headers = {}, body } = request;
  return { ok: true, outgoing: { kind: 'http', reference, method, path, headers, body } };
}
