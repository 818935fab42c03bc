import type { DataSource } from 'typeorm';
import { readApproval, type ApprovalRow } from '../approvals/read-approval.ts';
import { writeAudit, type AuditEntry } from '../audit/write-audit.ts';
import { ApprovalFactsHandler } from '../campaigns/approve-campaign/approval-facts.handler.ts';
import { findCampaign } from '../campaigns/find-campaign.ts';
import { campaignOfObject } from '../campaigns/lock-campaign.ts';
import { databaseTime } from '../database/database-time.ts';
import { inTransaction, type Transaction } from '../database/in-transaction.ts';
import { pastContention } from '../dispatch/past-contention.ts';
import { scrubAddresses } from '../mail/scrub-addresses.ts';
import type { ConsumedEvent } from '../messaging/inbox/consumed-event.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { parseRfc3339 } from '../messaging/rfc3339.ts';
import { invalidRequest, namedProblem } from './problem.ts';
import type { ApprovalGrant, ApprovalWithdrawal } from './schemas/decisions.schema.ts';
import type { Caller } from './tenant-token.guard.ts';

interface ApprovedThing {
  readonly object: string;
  readonly revision: number;
}

/** Approvals by HTTP: the same facts, handled by the same code, as those that peers publish. */
export class ApprovalDecisions {
  readonly #dataSource: DataSource;
  readonly #handler: ApprovalFactsHandler;
  readonly #limits: OutboxLimits;

  constructor(dataSource: DataSource, events: EventWriter, limits: OutboxLimits) {
    this.#dataSource = dataSource;
    this.#handler = new ApprovalFactsHandler(events);
    this.#limits = limits;
  }

  async grant(caller: Caller, requestId: string, { approvedBy, ...given }: ApprovalGrant) {
    const { expiresAt, ...named } = given;
    const data = {
      ...named,
      approvedBy: approvedBy ?? caller.actor,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    return await this.#decide(caller, given, async (tx, outbox, time) => {
      const expires = expiresAt === undefined ? null : parseRfc3339(expiresAt);
      if (expires && expires <= time) throw invalidRequest([{ field: 'expiresAt', rule: 'must be in the future' }]);
      const event = eventOf(caller, requestId, 'einmal.approval.granted.v1', time, data);
      await this.#handler.granted({ events: [event], tx, outbox });
      return auditOf(caller, 'approval.grant', given, `approved by ${data.approvedBy}`);
    });
  }

  async withdraw(caller: Caller, requestId: string, { reason: given, ...named }: ApprovalWithdrawal) {
    const reason = scrubAddresses(given, [], 1000);
    return await this.#decide(caller, named, async (tx, outbox, time) => {
      const data = { ...named, by: caller.actor, reason };
      const event = eventOf(caller, requestId, 'einmal.approval.withdrawn.v1', time, data);
      await this.#handler.withdrawn({ events: [event], tx, outbox });
      return auditOf(caller, 'approval.withdraw', named, reason);
    });
  }

  /** @throws ProblemException 409 `superseded` when a newer decision is there: nothing is written then */
  async #decide(
    { tenantId }: Caller,
    { object, revision }: ApprovedThing,
    decide: (tx: Transaction, outbox: OutboxEntry[], time: Date) => Promise<AuditEntry>,
  ) {
    return await pastContention(() =>
      inTransaction(this.#dataSource, 'approve-by-person', async (tx) => {
        const outbox: OutboxEntry[] = [];
        const before = await readApproval(tx, tenantId, object, revision);
        const time = await databaseTime(tx);
        const entry = await decide(tx, outbox, time);
        const after = await readApproval(tx, tenantId, object, revision);
        if (after?.fact_time.getTime() !== time.getTime()) throw superseded(after);
        await writeAudit(tx, [{ ...entry, before: shown(before), after: shown(after) }]);
        await appendToOutbox(tx, outbox, this.#limits);
        return { object, revision, ...shown(after), campaign: await this.#campaign(tx, tenantId, object) };
      }),
    );
  }

  /** What an approval of a campaign has come to; null when it is of something else, or the campaign is not there yet. */
  async #campaign(tx: Transaction, tenantId: string, object: string) {
    const campaignId = campaignOfObject(object);
    const row = campaignId === undefined ? undefined : await findCampaign(tx, tenantId, campaignId);
    if (!row) return null;
    return {
      campaignId: row.campaign_id,
      revision: Number(row.revision),
      contentHash: row.content_hash,
      state: row.state,
    };
  }
}

function eventOf<D>({ tenantId }: Caller, id: string, type: string, time: Date, data: D): ConsumedEvent<D> {
  return { id, source: '/einmal/http', type, tenantId, time, data };
}

function auditOf(
  { tenantId, actor }: Caller,
  action: AuditEntry['action'],
  { object, revision }: ApprovedThing,
  reason: string,
): AuditEntry {
  return {
    tenantId,
    actor,
    action,
    object,
    reason: scrubAddresses(reason, [], 1000),
    before: {},
    after: { revision },
  };
}

function superseded(row: ApprovalRow | null) {
  return namedProblem('superseded', 'a decision with a later time is stored', row ? shown(row) : {});
}

function shown(row: ApprovalRow | null) {
  if (!row) return {};
  return {
    granted: row.granted,
    hash: row.hash,
    decidedBy: row.decided_by,
    reason: row.reason,
    expiresAt: row.expires_at?.toISOString() ?? null,
    decidedAt: row.fact_time.toISOString(),
  };
}
