import { randomUUID } from 'node:crypto';
import type { OutboxLimits } from '../../messaging/outbox/append-to-outbox.ts';
import type { Prepared } from '../../providers/provider.port.ts';
import { createMicroBatch, type MicroBatch } from '../../runtime/micro-batch.ts';
import { reach } from '../../runtime/signal.ts';
import { RECORD_MARGIN_MS } from '../call-limits.ts';
import type { DispatchObserver } from '../dispatch-observer.ts';
import type { DispatchPlace } from '../dispatch-place.ts';
import { pastContention } from '../past-contention.ts';
import type { ProviderLane } from '../provider-lane.ts';
import { ResultStore } from '../result-store.ts';
import { storableResult } from '../storable-result.ts';
import { BatchReplays } from './batch-replays.ts';
import { claimUnknowns, type UnknownOperation } from './claim-unknowns.ts';
import { commitReplays, type Replay, type ReplayIntent } from './commit-replays.ts';
import { lookUp, lookupQuery } from './look-up.ts';
import { planResolution, type ResolutionStep } from './plan-resolution.ts';
import { recordResolutions, type ResolutionResult } from './record-resolutions.ts';
import { afterLookup, afterReplay, closed, notReplayed, postponed } from './resolution-outcome.ts';

export interface ResolveSettings {
  readonly leaseSeconds: number;
  readonly callTimeoutMs: ReadonlyMap<string, number>;
  readonly outbox: OutboxLimits;
}

const LARGEST_BATCH = 500;
/** Claimed at a time, in multiples of the provider's calls. */
const AHEAD = 4;

/** An operation with the step that comes next. */
interface Planned {
  readonly operation: UnknownOperation;
  readonly step: ResolutionStep;
}

/**
 * The road of an unknown outcome: claim, plan, do one step (the key again, a lookup, a decision of the policy), record. It stays
 * unknown until evidence or a decision; whatever happens to this process, somebody else goes on from what is recorded.
 */
export class ResolvePipeline {
  readonly worker = randomUUID();
  readonly #underWay = new Map<string, Set<Promise<void>>>();
  readonly #intents = new Map<string, MicroBatch<Replay, ReplayIntent>>();
  readonly #records: ResultStore<ResolutionResult>;
  readonly #batches: BatchReplays;
  #stopping = false;

  constructor(
    private readonly place: Omit<DispatchPlace, 'lanes' | 'wake'>,
    private readonly settings: ResolveSettings,
    private readonly observer: DispatchObserver,
  ) {
    const { dataSource, events, providers, logger } = place;
    for (const [name, { provider }] of providers) {
      const run = (batch: readonly Replay[]) =>
        pastContention(() => commitReplays(dataSource, provider, this.worker, batch));
      this.#intents.set(name, createMicroBatch({ maxSize: LARGEST_BATCH, run }));
    }
    this.#records = new ResultStore(
      LARGEST_BATCH,
      async (batch) => await recordResolutions(dataSource, events, settings.outbox, batch),
      logger,
    );
    this.#batches = new BatchReplays(place, this.worker, () => this.#stopping);
  }

  /** One look at all providers: claims what there is room for and sets it on its way. */
  readonly runOnce = async (): Promise<'more' | 'idle'> => {
    let claimed = 0;
    for (const lane of this.place.providers.values()) {
      if (this.#stopping) break;
      const most = Math.max(AHEAD * lane.provider.concurrency, lane.perCall);
      const limit = lane.paused() ? 0 : most - this.#waysOf(lane).size;
      if (limit < 1) continue;
      const unknowns = await claimUnknowns(this.place.dataSource, lane.name, limit, {
        worker: this.worker,
        leaseSeconds: this.settings.leaseSeconds,
      });
      claimed += unknowns.length;
      this.#start(unknowns, lane);
    }
    return claimed > 0 ? 'more' : 'idle';
  };

  /** Begins no further step, and waits for those under way. Bounded by the caller. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.settled();
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    const ways = () => [...this.#underWay.values()].flatMap((each) => [...each]);
    while (ways().length > 0) await Promise.allSettled(ways());
  }

  #waysOf(lane: ProviderLane): Set<Promise<void>> {
    const ways = this.#underWay.get(lane.name) ?? new Set();
    this.#underWay.set(lane.name, ways);
    return ways;
  }

  /** Each on its way; those that have to call the same batch again do so together. */
  #start(unknowns: readonly UnknownOperation[], lane: ProviderLane): void {
    const planned = unknowns.map((operation) => ({ operation, step: this.#plan(operation, lane) }));
    for (const [batchId, members] of Map.groupBy(planned, batchToReplay)) {
      if (batchId === null) {
        for (const each of members) this.#track(each, lane, this.#do(each, lane));
        continue;
      }
      const claimed = members.map(({ operation }) => operation);
      const results = this.#batches.replay({ batchId, claimed }, lane, this.#timeoutOf(lane));
      const resultOf = async (index: number) => (await results)[index];
      for (const [index, each] of members.entries()) this.#track(each, lane, resultOf(index));
    }
  }

  #plan(operation: UnknownOperation, lane: ProviderLane): ResolutionStep {
    const { abilities, account } = lane.provider;
    const callTimeoutMs = this.#timeoutOf(lane);
    return planResolution({ abilities, account, callTimeoutMs }, operation.history);
  }

  #track(planned: Planned, lane: ProviderLane, result: Promise<ResolutionResult | undefined>): void {
    const ways = this.#waysOf(lane);
    const way = this.#finish(planned, lane, result)
      .catch((error: unknown) =>
        this.place.logger.error('resolve.step-failed', { operationId: planned.operation.operation_id, error }),
      )
      .finally(() => ways.delete(way));
    ways.add(way);
  }

  async #finish(
    { operation, step }: Planned,
    lane: ProviderLane,
    pending: Promise<ResolutionResult | undefined>,
  ): Promise<void> {
    const result = await pending;
    if (!result) return;
    const held = await this.#records.store(result);
    if (!held) this.observer.claimLost('resolve');
    else this.observer.resolved(lane.name, step.do, result.settlement.next.state);
    const { outcome, code } = result.settlement.evidence ?? {};
    this.place.logger.info('resolve.step', { operationId: operation.operation_id, step: step.do, outcome, code, held });
  }

  async #do({ operation, step }: Planned, lane: ProviderLane): Promise<ResolutionResult | undefined> {
    switch (step.do) {
      case 'replay':
        return await this.#withCall(operation, lane, async () => await this.#replay(operation, lane));
      case 'lookup':
        return await this.#withCall(operation, lane, async () => await this.#lookUp(operation, lane, step.last));
      case 'wait':
        return postponed(operation, step.until);
      case 'hold':
      case 'resend':
      case 'assume-sent':
        return closed(operation, step);
    }
  }

  /** Within the provider's calls at a time; where there is no room or time, somebody looks again later. */
  async #withCall(
    operation: UnknownOperation,
    lane: ProviderLane,
    work: () => Promise<ResolutionResult>,
  ): Promise<ResolutionResult> {
    const leaveCall = this.#stopping ? null : await lane.enterCall(false);
    if (!leaveCall) return postponed(operation, 'now');
    try {
      const inTime = operation.lease.leavesRoomFor(this.#timeoutOf(lane) + RECORD_MARGIN_MS);
      return this.#stopping || !inTime ? postponed(operation, 'now') : await work();
    } finally {
      leaveCall();
    }
  }

  async #replay(operation: UnknownOperation, lane: ProviderLane): Promise<ResolutionResult> {
    const prepared = await this.#prepare(operation, lane);
    if (!prepared.ok) return notReplayed(operation, 'definition-changed', prepared.rule);
    const intent = await this.#intents.get(lane.name)?.({ operation, requestHash: prepared.call.hash });
    if (intent !== 'committed') return notReplayed(operation, intent ?? 'claim-lost', null);
    await reach('resolve.before-call', { operationId: operation.operation_id });
    const outcome = storableResult(await prepared.call.send(this.#timeoutOf(lane)));
    await reach('resolve.after-call', { operationId: operation.operation_id });
    await this.place.stops.learn(lane, outcome);
    return afterReplay(operation, outcome);
  }

  async #lookUp(operation: UnknownOperation, lane: ProviderLane, last: boolean): Promise<ResolutionResult> {
    const since = operation.history.attempts[0]?.startedAt ?? operation.unknown_since;
    const composed = await this.place.composer.compose(operation);
    const query = lookupQuery(operation.operation_id, composed.ok ? composed.outgoing : null, since);
    const newest = operation.history.attempts.at(-1)?.startedAt ?? since;
    const canary = last ? this.place.canaries.after(lane.name, lane.provider.account, newest) : null;
    return afterLookup(operation, await lookUp(lane.provider, query, canary, this.#timeoutOf(lane)));
  }

  async #prepare(operation: UnknownOperation, lane: ProviderLane): Promise<Prepared> {
    const composed = await this.place.composer.compose(operation);
    return composed.ok ? lane.provider.prepare(composed.outgoing, operation.request_shape) : composed;
  }

  #timeoutOf(lane: ProviderLane): number {
    return this.settings.callTimeoutMs.get(lane.name) ?? 0;
  }
}

/** null: it goes its own way. */
function batchToReplay({ operation, step }: Planned): string | null {
  return step.do === 'replay' ? operation.batchId : null;
}
