import type { CallOutcome, Outgoing, Provider } from '../../src/providers/provider.port.ts';
import type { Fault } from './faults.ts';

export type OutcomeKind = CallOutcome['kind'];

/** Where a provider under test is pointed at. */
export type Destination = 'the sink' | 'a closed port' | 'an unknown host' | 'a server without TLS';

/** What the sink knows of one reference. */
export interface Seen {
  readonly effects: number;
  /** The vendor's id of the first effect; null before it and where it has none. */
  readonly effectId: string | null;
  /** Requests that arrived whole. */
  readonly requests: number;
  /** Those of them that had an idempotency key. */
  readonly keyed: number;
  /** Distinct SHA-256 of what arrived. */
  readonly hashes: readonly string[];
}

/** One provider kind under test, with the outside judge of what it does. One case at a time. */
export interface Stand {
  /** Column of the table. */
  readonly name: string;
  /** What is known of the kind from the vendor's own texts; the adapter must say the same of itself. */
  readonly key: 'none' | 'replay' | 'reject-duplicate';
  /** Longest time in ms that the vendor keeps a key; null: not told, or configured. */
  readonly keyWindowMs: number | null;
  readonly comparesPayload: boolean;
  readonly lookup: boolean;
  /** Whether rows of a lookup show the reference, so that a hit can be held against it. */
  readonly lookupShowsReference: boolean;
  /** Destinations other than the sink that this kind can be pointed at. */
  readonly destinations: readonly Destination[];
  /** Whether this kind of server can be made to do so. */
  suffers(fault: Fault): boolean;
  /** Calls that may be on the wire at once; null: it opens no connections. */
  readonly connections: number | null;
  /** Whether a throttled answer of this vendor says how long to wait. */
  readonly saysRetryAfter: boolean;
  open(destination?: Destination): Provider;
  /** Configured otherwise in what shapes the bytes; null: nothing of this kind does. */
  readonly openChanged: (() => Provider) | null;
  /** @param variant other content under the same reference */
  outgoing(reference: string, variant?: string): Outgoing;
  arm(fault: Fault): Promise<void>;
  /** Answers the next call twice; only where `suffersTwice`. */
  readonly suffersTwice: boolean;
  armTwice(): Promise<void>;
  /** Answers the next lookups otherwise. */
  armLookup(fault: LookupFault): Promise<void>;
  /** Several messages in one request; null: this kind takes none. */
  readonly batch: BatchStand | null;
  disarm(): Promise<void>;
  seen(reference: string): Promise<Seen>;
  /** Requests that began, whatever became of them. */
  wire(): Promise<number>;
  stalled(): Promise<number>;
  release(): Promise<void>;
  /** What the vendor would not have taken for its form. */
  complaints(): Promise<readonly string[]>;
}

export interface BatchStand {
  /** Configured to make batches. */
  open(): Provider;
  /** Refuses this message of later requests, and no other. */
  refuse(reference: string): Promise<void>;
}

/** `late`: the index shows nothing yet. `careless`: it shows everything, and no reference with it. */
export type LookupFault = 'late' | 'careless' | 'server-error' | 'throttled' | 'garbage' | 'stall' | 'drop';
