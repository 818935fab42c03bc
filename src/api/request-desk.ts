import type { DataSource } from 'typeorm';
import { inTransaction } from '../database/in-transaction.ts';
import { pastContention } from '../dispatch/past-contention.ts';
import { appendToOutbox, type OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { OutboxEntry } from '../messaging/outbox/outbox-entry.ts';
import type { OperationRequest } from '../operations/request-operations/plan-operation.ts';
import type { RequestAnswer } from '../operations/request-operations/request-answer.ts';
import { takeRequests, type RequestDesk } from '../operations/request-operations/take-requests.ts';
import { listCheckpoints, type ShownCheckpoint } from '../operations/steps/list-checkpoints.ts';

/** Whose request it is, and what names it as the cause of what follows. */
export interface RequestOrigin {
  readonly tenantId: string;
  readonly requestId: string;
  readonly traceparent?: string;
}

export interface AnsweredRequest {
  readonly answer: RequestAnswer;
  /** What the operation has answered so far; empty for a new one. */
  readonly checkpoints: readonly ShownCheckpoint[];
}

/** The HTTP entrance to the ledger: the same road, transaction and events as by Kafka. */
export class OperationDesk {
  readonly #dataSource: DataSource;
  readonly #desk: RequestDesk;
  readonly #limits: OutboxLimits;

  constructor(dataSource: DataSource, desk: RequestDesk, limits: OutboxLimits) {
    this.#dataSource = dataSource;
    this.#desk = desk;
    this.#limits = limits;
  }

  /** One answer for each, by index; all of them in one transaction. */
  async ask(origin: RequestOrigin, requests: readonly OperationRequest[]): Promise<AnsweredRequest[]> {
    if (requests.length === 0) return [];
    const { tenantId, requestId: id, traceparent } = origin;
    const received = requests.map((data) => ({ id, tenantId, data, ...(traceparent ? { traceparent } : {}) }));
    const answers = await pastContention(() =>
      inTransaction(this.#dataSource, 'ask', async (tx) => {
        const outbox: OutboxEntry[] = [];
        const taken = await takeRequests(tx, outbox, this.#desk, received);
        await appendToOutbox(tx, outbox, this.#limits);
        return taken;
      }),
    );
    const known = answers.flatMap(({ kind, operation }) => (kind === 'duplicated' ? [operation.operationId] : []));
    const checkpointsOf = await listCheckpoints(this.#dataSource, tenantId, known);
    return answers.map((answer) => ({
      answer,
      checkpoints: answer.kind === 'duplicated' ? checkpointsOf(answer.operation.operationId) : [],
    }));
  }
}
