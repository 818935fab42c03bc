import {
  FINAL_STATES,
  mayFollow,
  OPERATION_STATES,
  type OperationState,
} from '../../src/operations/operation.states.ts';
import type { PeerEvent } from '../support/peer.ts';
import type { LedgerOperation } from './ledger.ts';

const CAMPAIGN_ORDER = ['drafted', 'approved', 'materialised', 'started', 'completed'];

/**
 * What the topic of events tells of one campaign, read as a peer does that knows an event by its id: repeats are dropped,
 * and the first appearances of a key must be in the order in which things were.
 */
export class ToldEvents {
  readonly #idsByKey = new Map<string, Set<string>>();
  readonly #lastState = new Map<string, OperationState>();
  readonly #told = new Set<string>();
  readonly #faults: string[] = [];
  #lastOfCampaign = '';
  #read = 0;
  repeats = 0;

  /** Takes what is new in a list that only grows. */
  take(events: readonly PeerEvent[]): void {
    for (; this.#read < events.length; this.#read++) {
      const event = events[this.#read];
      if (event?.flaw) this.#faults.push(event.flaw);
      if (event && this.#isFirst(event)) this.#note(event);
    }
  }

  /** Operations whose state has no event yet. */
  missing(operations: readonly LedgerOperation[]): string[] {
    return operations
      .filter(({ state }) => FINAL_STATES.includes(state) || state === 'unknown')
      .filter(({ operationId, state }) => !this.#told.has(`${operationId} ${state}`))
      .map(({ operationKey, state }) => `no event says that ${operationKey} is ${state}`);
  }

  /** What was out of order, told twice under two ids, or not as the AsyncAPI document says. */
  faults(): readonly string[] {
    return this.#faults;
  }

  #isFirst({ key, id }: PeerEvent): boolean {
    const ids = this.#idsByKey.get(key) ?? new Set<string>();
    this.#idsByKey.set(key, ids);
    if (ids.has(id)) this.repeats += 1;
    return !ids.has(id) && ids.add(id).has(id);
  }

  #note({ type, data }: PeerEvent): void {
    const [, about, what = ''] = /^einmal\.(operation|campaign)\.([a-z]+)\.v1$/.exec(type) ?? [];
    if (about === 'campaign') this.#noteCampaign(what);
    const state = OPERATION_STATES.find((each) => each === what);
    if (about === 'operation' && state) this.#noteOperation(String(data['operationId']), state);
  }

  #noteOperation(operationId: string, state: OperationState): void {
    const before = this.#lastState.get(operationId);
    if (before === state) this.#faults.push(`${operationId}: ${state} was told under two ids`);
    else if (before && !mayFollow(before, state)) this.#faults.push(`${operationId}: ${state} after ${before}`);
    this.#lastState.set(operationId, state);
    this.#told.add(`${operationId} ${state}`);
  }

  #noteCampaign(what: string): void {
    if (CAMPAIGN_ORDER.indexOf(what) !== CAMPAIGN_ORDER.indexOf(this.#lastOfCampaign) + 1)
      this.#faults.push(`the campaign: ${what} after ${this.#lastOfCampaign || 'nothing'}`);
    this.#lastOfCampaign = what;
  }
}
