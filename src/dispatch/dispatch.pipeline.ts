import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { CallOutcome, Outgoing } from '../providers/provider.port.ts';
import { createMicroBatch, type MicroBatch } from '../runtime/micro-batch.ts';
import { errorCode } from '../runtime/service-error.ts';
import { reach } from '../runtime/signal.ts';
import { BatchCalls, mayShareCall, type Called, type ReadyCall } from './batch-calls.ts';
import { INTENT_GATHER_MS, INTENT_PAUSE_MS, RECORD_MARGIN_MS } from './call-limits.ts';
import { claimOperations, findDueLanes, type Lane } from './claim-operations.ts';
import type { ClaimedOperation } from './claimed-operation.ts';
import { commitIntents, type Intent, type IntentOutcome } from './commit-intents.ts';
import type { DispatchObserver } from './dispatch-observer.ts';
import type { DispatchPlace, DispatchSettings } from './dispatch-place.ts';
import { claimEnd, endClaims, type ClaimEnd, type NotCalled } from './end-claims.ts';
import type { ProviderLane } from './provider-lane.ts';
import { pastContention } from './past-contention.ts';
import { recordResults, type CallResult } from './record-results.ts';
import { lookupQuery } from './resolve/look-up.ts';
import { ResultStore } from './result-store.ts';
import { NOT_CALLED } from './retry-policy.ts';
import { storableResult } from './storable-result.ts';

const LARGEST_BATCH = 500;
/** So many lost workers make an operation suspect: a single one is an accident. */
const SUSPECT_CRASHES = 3;

/**
 * The road of an operation: claim, prepare, commit the intent, call, record. Statements are shared by all operations that
 * reach a step at the same moment; each write names the claim number, and a lost claim is an outcome.
 */
export class DispatchPipeline {
  readonly worker = randomUUID();
  readonly #underWay = new Set<Promise<void>>();
  readonly #intents = new Map<string, MicroBatch<Intent, IntentOutcome>>();
  readonly #ends: MicroBatch<ClaimEnd, boolean>;
  readonly #records: ResultStore<CallResult>;
  readonly #batches: BatchCalls;
  #turn = 0;
  #suspect = false;
  #stopping = false;

  constructor(
    private readonly place: DispatchPlace,
    private readonly settings: DispatchSettings,
    private readonly observer: DispatchObserver,
  ) {
    const { dataSource, events, providers, logger } = place;
    const { outbox } = settings;
    for (const [provider, lane] of providers) {
      this.#intents.set(
        provider,
        createMicroBatch({
          maxSize: LARGEST_BATCH,
          // No more come than there are calls, and some of those are always under way.
          gather: { ms: INTENT_GATHER_MS, size: Math.ceil(lane.provider.concurrency * 0.75) },
          run: (batch) => pastContention(() => commitIntents(dataSource, lane.provider, this.worker, batch)),
        }),
      );
    }
    this.#ends = createMicroBatch({
      maxSize: LARGEST_BATCH,
      run: (batch) => pastContention(() => endClaims(dataSource, events, outbox, batch)),
    });
    // Storing is a loop of its own: whatever goes wrong here, the provider is never called again because of it.
    this.#records = new ResultStore(
      LARGEST_BATCH,
      (batch) =>
        recordResults(dataSource, events, outbox, batch, {
          ...settings,
          ...(settings.retry ? { backoff: settings.retry } : {}),
        }),
      logger,
    );
    this.#batches = new BatchCalls(place, settings, observer, {
      worker: this.worker,
      isStopping: () => this.#stopping,
      callAlone: async (ready, lane) => await this.#callOnce(ready, lane),
      endWithoutCall: async (operation, why, reason) => await this.#endWithoutCall(operation, why, reason),
      claimLost: (operation) => this.#claimLost(operation, 'commit-intents'),
    });
  }

  /** One look at all lanes: claims what there is room for and sets it on its way. */
  readonly runOnce = async (): Promise<'more' | 'idle'> => {
    const open = this.place.lanes.filter((lane) => this.place.providers.get(lane.provider)?.hasRoom());
    if (this.#stopping || open.length === 0) return 'idle';
    const due = inTurn(await findDueLanes(this.place.dataSource, open), this.#turn++);
    let claimedAny = false;
    for (const [index, lane] of due.entries()) {
      const provider = this.place.providers.get(lane.provider);
      if (!provider || this.#stopping) continue;
      const sharers = due.slice(index).filter((other) => other.provider === lane.provider).length;
      const limit = lane.stopped ? await this.place.stops.probe(provider) : Math.ceil(provider.room() / sharers);
      if (limit < 1) continue;
      claimedAny = (await this.#claim(lane, provider, limit)) > 0 || claimedAny;
    }
    return claimedAny && due.some((lane) => this.place.providers.get(lane.provider)?.hasRoom()) ? 'more' : 'idle';
  };

  /**
   * Gives back what has not been called, waits for what has, and stores its results. Bounded by the caller, who may call it
   * again after the pass in hand: what that has claimed is then among what is waited for.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const provider of this.place.providers.values()) provider.dismissWaiting();
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #claim(lane: Lane, provider: ProviderLane, limit: number): Promise<number> {
    const claimed = await claimOperations(
      this.place.dataSource,
      lane,
      limit,
      this.settings.rates.get(lane.provider) ?? null,
      {
        worker: this.worker,
        leaseSeconds: this.settings.leaseSeconds,
      },
    );
    provider.claimed(limit, claimed.length);
    this.observer.claimed(claimed.length);
    for (const operation of claimed) {
      const way = this.#alone(operation, async () => await this.#attempt(operation, provider))
        .catch((error: unknown) =>
          this.place.logger.error('dispatch.attempt-failed', { operationId: operation.operation_id, error }),
        )
        .finally(() => {
          this.#underWay.delete(way);
          provider.finished();
          if (provider.hasRoom()) this.place.wake();
        });
      this.#underWay.add(way);
    }
    return claimed.length;
  }

  /** What workers were lost with goes one at a time, so that it takes few others down and is found out. */
  async #alone(operation: ClaimedOperation, work: () => Promise<void>): Promise<void> {
    if (operation.crashes < SUSPECT_CRASHES) return await work();
    if (this.#suspect) {
      await this.#endWithoutCall(operation, 'no-time-left');
      return;
    }
    this.#suspect = true;
    try {
      await work();
    } finally {
      this.#suspect = false;
    }
  }

  async #attempt(operation: ClaimedOperation, provider: ProviderLane): Promise<void> {
    const shape = operation.request_hash === null ? provider.provider.shape : operation.request_shape;
    const composed = await this.place.composer.compose(operation);
    const prepared = composed.ok ? provider.provider.prepare(composed.outgoing, shape) : composed;
    if (!composed.ok || !prepared.ok) {
      await this.#endWithoutCall(operation, 'not-composed', prepared.ok ? undefined : prepared.rule);
      return;
    }
    const { call } = prepared;
    const intended = { operation, requestHash: call.hash, shape, inputHash: composed.inputHash ?? null, batchId: null };
    const together = mayShareCall(operation, call) && operation.crashes < SUSPECT_CRASHES;
    const called = await (together
      ? this.#batches.join({ intended, call }, provider)
      : this.#callOnce({ intended, call }, provider));
    if (typeof called === 'object') this.#noteCanary(called, composed.outgoing, provider);
    if (called === 'intent-failed') await this.#takeBack(operation);
    else if (called) await this.#record(called, provider);
  }

  /** What was accepted just now can tell later whether a lookup would see what came before it. */
  #noteCanary({ operation, startedAt, result }: CallResult, outgoing: Outgoing, { provider }: ProviderLane): void {
    if (result.kind !== 'accepted' || provider.abilities.lookup.kind === 'none') return;
    const query = lookupQuery(operation.operation_id, outgoing, startedAt);
    this.place.canaries.note(provider.name, provider.account, query);
  }

  /** Holds one of the provider's calls from the intent to the answer, so that intents never run ahead of calls. */
  async #callOnce({ intended, call }: ReadyCall, provider: ProviderLane): Promise<Called> {
    const { operation } = intended;
    const leaveCall = this.#stopping ? null : await provider.enterCall(operation.campaign_id === null);
    if (!leaveCall) return await this.#endWithoutCall(operation, this.#stopping ? 'stopping' : 'no-time-left');
    try {
      const timeoutMs = this.settings.callTimeoutMs.get(provider.name) ?? 0;
      if (this.#stopping) return await this.#endWithoutCall(operation, 'stopping');
      if (provider.paused() || !operation.lease.leavesRoomFor(timeoutMs + RECORD_MARGIN_MS)) {
        return await this.#endWithoutCall(operation, 'no-time-left');
      }
      const intent = await this.#intent(intended);
      if (intent === 'failed') {
        // With the call still taken: else all that was claimed ahead would fail in the same moment.
        await wait(INTENT_PAUSE_MS);
        return 'intent-failed';
      }
      if (intent.kind === 'claim-lost') return this.#claimLost(operation, 'commit-intents');
      if (intent.kind !== 'committed') {
        return await this.#endWithoutCall(
          operation,
          intent.kind,
          intent.kind === 'suppressed' ? intent.reason : undefined,
        );
      }
      await reach('dispatch.before-call', { operationId: operation.operation_id });
      // The commit of the intent may have taken long, and a process may have been stopped meanwhile.
      const inTime = operation.lease.leavesRoomFor(timeoutMs);
      const result = inTime ? await this.#call(provider, call, timeoutMs) : NOT_CALLED;
      await reach('dispatch.after-call', { operationId: operation.operation_id });
      provider.answered();
      return { ...intended, attempt: intent.attempt, startedAt: intent.startedAt, result };
    } finally {
      leaveCall();
    }
  }

  async #intent(intent: Intent): Promise<IntentOutcome | 'failed'> {
    const batch = this.#intents.get(intent.operation.provider);
    try {
      return batch ? await batch(intent) : { kind: 'held-back' };
    } catch (error) {
      const { operation_id: operationId } = intent.operation;
      this.place.logger.error('dispatch.intent-failed', { operationId, code: errorCode(error) });
      return 'failed';
    }
  }

  /**
   * Whether the intent was committed is not known, but that nobody was called is. Without this it would be unknown when the
   * lease ends.
   */
  async #takeBack(operation: ClaimedOperation): Promise<void> {
    const committed = await this.#records.store({
      operation,
      attempt: operation.attempts + 1,
      startedAt: operation.created_at,
      inputHash: null,
      result: NOT_CALLED,
    });
    if (!committed) await this.#endWithoutCall(operation, 'no-time-left');
  }

  async #call(provider: ProviderLane, call: ReadyCall['call'], timeoutMs: number): Promise<CallOutcome> {
    const startedAt = performance.now();
    const result = storableResult(await call.send(timeoutMs));
    this.observer.called(provider.name, result, (performance.now() - startedAt) / 1000);
    await this.place.stops.learn(provider, result);
    return result;
  }

  async #record(called: CallResult, provider: ProviderLane): Promise<void> {
    const held = await this.#records.store(called).finally(() => provider.stored());
    if (held) this.observer.recorded(called.result);
    else this.#claimLost(called.operation, 'record');
  }

  async #endWithoutCall(operation: ClaimedOperation, why: NotCalled, reason?: string): Promise<undefined> {
    const held = await this.#ends(claimEnd(operation, why, reason ?? null));
    if (held) this.observer.notCalled(why);
    else this.#claimLost(operation, 'commit-intents');
    return undefined;
  }

  #claimLost(operation: ClaimedOperation, step: 'commit-intents' | 'record'): undefined {
    this.observer.claimLost(step);
    this.place.logger.warn('dispatch.claim-lost', {
      step,
      operationId: operation.operation_id,
      claim: operation.claim_seq,
    });
    return undefined;
  }
}

/** Another lane begins at each turn. */
function inTurn<L>(lanes: readonly L[], turn: number): L[] {
  const first = lanes.length === 0 ? 0 : turn % lanes.length;
  return [...lanes.slice(first), ...lanes.slice(0, first)];
}
