import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Logger } from '../observability/logger.ts';
import type { CallOutcome, PreparedBatch, PreparedCall } from '../providers/provider.port.ts';
import { createMicroBatch, type MicroBatch } from '../runtime/micro-batch.ts';
import { errorCode, ServiceError } from '../runtime/service-error.ts';
import { reach } from '../runtime/signal.ts';
import { inBatchOrder } from './batch-order.ts';
import { INTENT_GATHER_MS, INTENT_PAUSE_MS, RECORD_MARGIN_MS } from './call-limits.ts';
import type { ClaimedOperation } from './claimed-operation.ts';
import { commitIntents, type Intent, type IntentOutcome } from './commit-intents.ts';
import type { DispatchObserver } from './dispatch-observer.ts';
import type { NotCalled } from './end-claims.ts';
import { pastContention } from './past-contention.ts';
import type { ProviderLane } from './provider-lane.ts';
import type { ProviderStops } from './provider-stops.ts';
import type { CallResult } from './record-results.ts';
import { NOT_CALLED } from './retry-policy.ts';
import { storableResult } from './storable-result.ts';

/** An operation whose request is complete. */
export interface ReadyCall {
  readonly intended: Intent;
  readonly call: PreparedCall;
}

/** What came of it; undefined: its claim has ended without a call. */
export type Called = CallResult | 'intent-failed' | undefined;

/** What the road of batches has in common with that of single calls. */
export interface SingleRoad {
  readonly worker: string;
  isStopping(): boolean;
  callAlone(ready: ReadyCall, lane: ProviderLane): Promise<Called>;
  endWithoutCall(operation: ClaimedOperation, why: NotCalled, reason?: string): Promise<undefined>;
  claimLost(operation: ClaimedOperation): undefined;
}

interface Member extends ReadyCall {
  readonly attempt: number;
  readonly startedAt: Date;
}

const ROWS_PER_STATEMENT = 500;

/**
 * Steps go alone, since what comes after one changes what its operation would be composed to; and so does what has failed
 * before: of a batch that was refused as a whole, the one at fault is found in this way.
 */
export function mayShareCall(operation: ClaimedOperation, call: PreparedCall): boolean {
  return call.batchable === true && operation.kind === 'email' && operation.attempts === 0;
}

/**
 * The road from the intent to the answer for operations that share one call. Their intents are committed together, with the
 * id of the batch, which is also its key: whoever has to call it again finds exactly who was in it. Either all of them are
 * called or none.
 */
export class BatchCalls {
  readonly #gathering = new Map<string, MicroBatch<ReadyCall, Called>>();
  readonly #intents = new Map<string, MicroBatch<readonly Intent[], readonly IntentOutcome[]>>();

  constructor(
    private readonly place: {
      readonly dataSource: DataSource;
      readonly stops: ProviderStops;
      readonly logger: Logger;
    },
    private readonly settings: { readonly callTimeoutMs: ReadonlyMap<string, number> },
    private readonly observer: DispatchObserver,
    private readonly road: SingleRoad,
  ) {}

  /** Goes with those of the same tenant that are ready at the same time, or alone when there are none. */
  async join(ready: ReadyCall, lane: ProviderLane): Promise<Called> {
    return await this.#gatheringOf(lane, ready.intended.operation)(ready);
  }

  #gatheringOf(lane: ProviderLane, operation: ClaimedOperation): MicroBatch<ReadyCall, Called> {
    const urgent = isUrgent(operation);
    const group = JSON.stringify([lane.name, operation.tenant_id, urgent]);
    const known = this.#gathering.get(group);
    if (known) return known;
    const gathering = createMicroBatch<ReadyCall, Called>({
      maxSize: lane.perCall,
      lanes: lane.provider.concurrency,
      gather: { ms: INTENT_GATHER_MS, size: lane.perCall },
      run: async (batch) => await this.#run(batch, lane, urgent),
    });
    this.#gathering.set(group, gathering);
    return gathering;
  }

  async #run(batch: readonly ReadyCall[], lane: ProviderLane, urgent: boolean): Promise<readonly Called[]> {
    const [first] = batch;
    if (first && batch.length === 1) return [await this.road.callAlone(first, lane)];
    const leaveCall = this.road.isStopping() ? null : await lane.enterCall(urgent);
    if (!leaveCall) return await this.#endAll(batch);
    try {
      if (this.road.isStopping() || lane.paused()) return await this.#endAll(batch);
      const results = new Map<ReadyCall, Called>(await this.#callTogether(batch, lane));
      return batch.map((ready) => results.get(ready));
    } finally {
      leaveCall();
    }
  }

  async #endAll(batch: readonly ReadyCall[]): Promise<undefined[]> {
    const why = this.road.isStopping() ? 'stopping' : 'no-time-left';
    return await Promise.all(
      batch.map(async ({ intended }) => await this.road.endWithoutCall(intended.operation, why)),
    );
  }

  /** With one of the provider's calls taken. Tells what came of those that were called, or may have been. */
  async #callTogether(
    batch: readonly ReadyCall[],
    lane: ProviderLane,
  ): Promise<readonly (readonly [ReadyCall, Called])[]> {
    const timeoutMs = this.#timeoutOf(lane);
    const hasTime = ({ intended }: ReadyCall) => intended.operation.lease.leavesRoomFor(timeoutMs + RECORD_MARGIN_MS);
    const late = batch.filter((ready) => !hasTime(ready));
    const inTime = inBatchOrder(batch.filter(hasTime), ({ intended }) => intended.operation.operation_id);
    const lateEnded = this.#ended([this.#endAll(late)]);
    const batchId = randomUUID();
    const outcomes = inTime.length === 0 ? [] : await this.#commit(inTime, lane, batchId);
    if (outcomes === 'failed') {
      await Promise.all([wait(INTENT_PAUSE_MS), lateEnded]);
      return inTime.map((ready) => [ready, 'intent-failed'] as const);
    }
    const members = inTime.flatMap((ready, index): (readonly [ReadyCall, Member])[] => {
      const outcome = outcomes[index];
      if (outcome?.kind !== 'committed') return [];
      return [[ready, { ...ready, attempt: outcome.attempt, startedAt: outcome.startedAt }]];
    });
    const ended = this.#ended(
      inTime.map(async ({ intended }, index) => await this.#endUncommitted(intended.operation, outcomes[index])),
    );
    const results = await this.#send(
      members.map(([, member]) => member),
      lane,
      batchId,
    );
    await Promise.all([lateEnded, ended]);
    return members.map(([ready], index) => [ready, results[index]] as const);
  }

  /** What cannot be ended now comes back when its lease ends; the call of the others has nothing to do with it. */
  async #ended(ends: readonly Promise<unknown>[]): Promise<void> {
    for (const end of await Promise.allSettled(ends)) {
      if (end.status === 'rejected')
        this.place.logger.error('dispatch.attempt-failed', { code: errorCode(end.reason) });
    }
  }

  async #commit(
    batch: readonly ReadyCall[],
    lane: ProviderLane,
    batchId: string,
  ): Promise<readonly IntentOutcome[] | 'failed'> {
    try {
      return await this.#intentsOf(lane)(batch.map(({ intended }) => ({ ...intended, batchId })));
    } catch (error) {
      this.place.logger.error('dispatch.intent-failed', { batchId, code: errorCode(error) });
      return 'failed';
    }
  }

  /** All of a batch in one statement, which may commit further batches: a part of one would be another batch. */
  #intentsOf(lane: ProviderLane): MicroBatch<readonly Intent[], readonly IntentOutcome[]> {
    const known = this.#intents.get(lane.name);
    if (known) return known;
    const intents = createMicroBatch<readonly Intent[], readonly IntentOutcome[]>({
      maxSize: Math.max(1, Math.floor(ROWS_PER_STATEMENT / lane.perCall)),
      run: async (batches) => {
        const { dataSource } = this.place;
        const outcomes = await pastContention(() =>
          commitIntents(dataSource, lane.provider, this.road.worker, batches.flat()),
        );
        let next = 0;
        return batches.map(({ length }) => outcomes.slice(next, (next += length)));
      },
    });
    this.#intents.set(lane.name, intents);
    return intents;
  }

  async #endUncommitted(operation: ClaimedOperation, outcome: IntentOutcome | undefined): Promise<undefined> {
    if (!outcome || outcome.kind === 'claim-lost') return this.road.claimLost(operation);
    if (outcome.kind === 'committed') return undefined;
    const reason = outcome.kind === 'suppressed' ? outcome.reason : undefined;
    return await this.road.endWithoutCall(operation, outcome.kind, reason);
  }

  async #send(members: readonly Member[], lane: ProviderLane, batchId: string): Promise<readonly CallResult[]> {
    if (members.length === 0) return [];
    const timeoutMs = this.#timeoutOf(lane);
    const operationIds = members.map(({ intended }) => intended.operation.operation_id);
    await reach('dispatch.before-call', { batchId, operationIds });
    // The commit of the intents may have taken long, and a process may have been stopped meanwhile.
    const inTime = members.every(({ intended }) => intended.operation.lease.leavesRoomFor(timeoutMs));
    const outcomes = inTime ? await this.#call(members, lane, batchId) : members.map(() => NOT_CALLED);
    await reach('dispatch.after-call', { batchId, operationIds });
    lane.answered(members.length);
    return members.map(({ intended, attempt, startedAt }, index) => {
      const result = outcomes[index];
      if (!result) throw new ServiceError('batch-outcomes', 'fewer outcomes than members', { retryable: false });
      return { ...intended, attempt, startedAt, result };
    });
  }

  async #call(members: readonly Member[], lane: ProviderLane, batchId: string): Promise<readonly CallOutcome[]> {
    const call = preparedBatch(
      members.map((member) => member.call),
      lane,
      batchId,
    );
    const startedAt = performance.now();
    const outcomes = (await call.send(this.#timeoutOf(lane))).map((outcome) => storableResult(outcome));
    const seconds = (performance.now() - startedAt) / 1000;
    for (const outcome of outcomes) this.observer.called(lane.name, outcome, seconds);
    for (const outcome of oneOfEachKind(outcomes)) await this.place.stops.learn(lane, outcome);
    return outcomes;
  }

  #timeoutOf(lane: ProviderLane): number {
    return this.settings.callTimeoutMs.get(lane.name) ?? 0;
  }
}

function preparedBatch(calls: readonly PreparedCall[], { provider }: ProviderLane, key: string): PreparedBatch {
  const batch = provider.prepareBatch?.(calls, key);
  if (batch) return batch;
  throw new ServiceError('no-batches', `provider ${provider.name} makes no batches`, { retryable: false });
}

/** What a lane learns from a batch: it was one call, however many it carried. */
export function oneOfEachKind(outcomes: readonly CallOutcome[]): readonly CallOutcome[] {
  return [...new Map(outcomes.map((outcome) => [outcome.kind, outcome])).values()];
}

/** Single operations go before campaigns, and so never in one call with them. */
function isUrgent(operation: ClaimedOperation): boolean {
  return operation.campaign_id === null;
}
