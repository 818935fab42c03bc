import type { DataSource } from 'typeorm';
import { writeAudit } from '../audit/write-audit.ts';
import { inTransaction } from '../database/in-transaction.ts';
import { pastContention } from '../dispatch/past-contention.ts';
import { scrubAddresses } from '../mail/scrub-addresses.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { parseRfc3339 } from '../messaging/rfc3339.ts';
import { cancelOperations, type CancelOutcome } from '../operations/cancel-operations/cancel-operations.ts';
import { findState } from '../operations/cancel-operations/find-state.ts';
import {
  redriveOperations,
  type RedrivenOperation,
  type RedriveOutcome,
} from '../operations/redrive-operations/redrive-operations.ts';
import type { TenantDirectory } from '../tenants/tenant-directory.ts';
import { invalidRequest } from './problem.ts';
import type { Caller } from './tenant-token.guard.ts';

export interface RedriveSaid {
  readonly reason: string;
  readonly deadline?: string | undefined;
  readonly perSecond?: number | undefined;
}

/** What people decide by HTTP of operations whose outcome is known. Each decision has a reason and leaves a row in the audit. */
export class OperationDecisions {
  readonly #dataSource: DataSource;
  readonly #events: EventWriter;
  readonly #tenants: TenantDirectory;
  readonly #limits: OutboxLimits;

  constructor(dataSource: DataSource, events: EventWriter, tenants: TenantDirectory, limits: OutboxLimits) {
    this.#dataSource = dataSource;
    this.#events = events;
    this.#tenants = tenants;
    this.#limits = limits;
  }

  /** One outcome for each operation, by index. @throws ProblemException 400 when the deadline is not ahead */
  async redrive(
    { tenantId, actor }: Caller,
    requestId: string,
    { reason, deadline, perSecond }: RedriveSaid,
    operations: readonly RedrivenOperation[],
  ): Promise<readonly RedriveOutcome[]> {
    const wanted = {
      tenantId,
      actor,
      reason,
      deadline: deadline === undefined ? null : parseRfc3339(deadline),
      perSecond: perSecond ?? null,
      providers: this.#tenants.get(tenantId)?.providers ?? [],
      causationId: requestId,
    };
    const redriven = await pastContention(() =>
      inTransaction(this.#dataSource, 'redrive', async (tx) => {
        const outbox: OutboxEntry[] = [];
        const outcome = await redriveOperations(tx, outbox, this.#events, wanted, operations);
        await appendToOutbox(tx, outbox, this.#limits);
        return outcome;
      }),
    );
    switch (redriven.kind) {
      case 'done':
        return redriven.outcomes;
      case 'deadline-past':
        throw invalidRequest([{ field: 'deadline', rule: 'must be in the future' }]);
    }
  }

  /** Cancels before the call, as `einmal.operation.cancel-requested.v1` does; an operation that is not there yet as well. */
  async cancel(
    { tenantId, actor }: Caller,
    requestId: string,
    operationKey: string,
    given: string,
  ): Promise<CancelOutcome> {
    const reason = scrubAddresses(given, [], 800);
    const request = { id: requestId, tenantId, data: { operationKey, by: actor, reason } };
    return await pastContention(() =>
      inTransaction(this.#dataSource, 'cancel-by-person', async (tx) => {
        const outbox: OutboxEntry[] = [];
        const before = await findState(tx, tenantId, operationKey);
        const [outcome] = await cancelOperations(tx, outbox, this.#events, [request]);
        if (!outcome) throw new TypeError('one cancellation has one outcome');
        const changed = outcome.kind === 'cancelled' || (outcome.kind === 'cancelled-before-request' && !before);
        const entry = {
          tenantId,
          actor,
          action: 'operation.cancel' as const,
          object: operationKey,
          reason,
          before: before ? { state: before } : {},
          after: { state: 'cancelled' },
        };
        if (changed) await writeAudit(tx, [entry]);
        await appendToOutbox(tx, outbox, this.#limits);
        return outcome;
      }),
    );
  }
}
