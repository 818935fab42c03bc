import type { DataSource } from 'typeorm';
import type { CallOutcome, PreparedBatch, PreparedCall } from '../../providers/provider.port.ts';
import { reach } from '../../runtime/signal.ts';
import { oneOfEachKind } from '../batch-calls.ts';
import { RECORD_MARGIN_MS } from '../call-limits.ts';
import type { Composer } from '../compose.ts';
import { pastContention } from '../past-contention.ts';
import type { ProviderLane } from '../provider-lane.ts';
import type { ProviderStops } from '../provider-stops.ts';
import { storableResult } from '../storable-result.ts';
import type { UnknownOperation } from './claim-unknowns.ts';
import { commitBatchReplay } from './commit-batch-replay.ts';
import type { ReplayIntent } from './commit-replays.ts';
import { readBatch, type BatchMember } from './read-batch.ts';
import type { ResolutionResult } from './record-resolutions.ts';
import { afterReplay, notReplayed, postponed } from './resolution-outcome.ts';

/** Members that this worker has claimed, all of one batch. */
export interface ClaimedBatch {
  readonly batchId: string;
  readonly claimed: readonly UnknownOperation[];
}

type Remade =
  | { readonly ok: true; readonly call: PreparedBatch; readonly operationIds: readonly string[] }
  | { readonly ok: false; readonly rule: string };

const HELD_BACK: Partial<Record<ReplayIntent, string>> = {
  'definition-changed': 'another operation of its batch may not be sent, or not again',
};

/**
 * Calls a batch again as it was called first: all members, in the same order, under the same key. What is claimed elsewhere, or
 * by nobody, has its part in the call and is left alone.
 */
export class BatchReplays {
  constructor(
    private readonly place: {
      readonly dataSource: DataSource;
      readonly composer: Composer;
      readonly stops: ProviderStops;
    },
    private readonly worker: string,
    private readonly isStopping: () => boolean,
  ) {}

  /** One result each, by index. */
  async replay(batch: ClaimedBatch, lane: ProviderLane, timeoutMs: number): Promise<readonly ResolutionResult[]> {
    const { claimed } = batch;
    const leaveCall = this.isStopping() ? null : await lane.enterCall(false);
    if (!leaveCall) return claimed.map((operation) => postponed(operation, 'now'));
    try {
      const inTime = claimed.every(({ lease }) => lease.leavesRoomFor(timeoutMs + RECORD_MARGIN_MS));
      if (this.isStopping() || !inTime) return claimed.map((operation) => postponed(operation, 'now'));
      return await this.#withCall(batch, lane, timeoutMs);
    } finally {
      leaveCall();
    }
  }

  async #withCall(batch: ClaimedBatch, lane: ProviderLane, timeoutMs: number): Promise<readonly ResolutionResult[]> {
    const { claimed, batchId } = batch;
    const remade = await this.#remake(batchId, lane);
    if (!remade.ok) return claimed.map((operation) => notReplayed(operation, 'definition-changed', remade.rule));
    const intents = await pastContention(() =>
      commitBatchReplay(this.place.dataSource, lane.provider, this.worker, batchId, claimed),
    );
    const { call, operationIds } = remade;
    let outcomes: readonly CallOutcome[] = [];
    if (intents.includes('committed')) {
      await reach('resolve.before-call', { batchId, operationIds });
      outcomes = (await call.send(timeoutMs)).map((outcome) => storableResult(outcome));
      await reach('resolve.after-call', { batchId, operationIds });
      for (const outcome of oneOfEachKind(outcomes)) await this.place.stops.learn(lane, outcome);
    }
    return claimed.map((operation, index) => {
      const intent = intents[index] ?? 'claim-lost';
      if (intent !== 'committed') return notReplayed(operation, intent, HELD_BACK[intent] ?? null);
      const outcome = outcomes[operationIds.indexOf(operation.operation_id)];
      return outcome ? afterReplay(operation, outcome) : notReplayed(operation, 'claim-lost', null);
    });
  }

  /** The request of the first call, or what keeps it from being the same. */
  async #remake(batchId: string, lane: ProviderLane): Promise<Remade> {
    const calls: PreparedCall[] = [];
    const members = await readBatch(this.place.dataSource, batchId);
    for (const member of members) {
      const prepared = await this.#prepare(member, lane);
      if (!prepared.ok) return { ok: false, rule: `another operation of its batch: ${prepared.rule}` };
      calls.push(prepared.call);
    }
    const call = lane.provider.prepareBatch?.(calls, batchId);
    if (!call) return { ok: false, rule: 'the provider makes no batches' };
    return { ok: true, call, operationIds: members.map(({ operation_id }) => operation_id) };
  }

  async #prepare(
    member: BatchMember,
    { provider }: ProviderLane,
  ): Promise<{ readonly ok: true; readonly call: PreparedCall } | { readonly ok: false; readonly rule: string }> {
    const composed = await this.place.composer.compose(member);
    if (!composed.ok) return composed;
    const prepared = provider.prepare(composed.outgoing, member.request_shape);
    if (!prepared.ok) return prepared;
    const isSame = member.request_hash?.equals(prepared.call.hash) ?? false;
    return isSame ? prepared : { ok: false, rule: 'what would be sent is not what the first attempt sent' };
  }
}
