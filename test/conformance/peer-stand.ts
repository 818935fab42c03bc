import { createHash } from 'node:crypto';
import { createProvider } from '../../src/providers/create-provider.ts';
import type { CallOutcome, OutgoingMail } from '../../src/providers/provider.port.ts';
import type { PeerFault } from './faults.ts';
import { mailOf } from './outgoing.ts';
import { providerConfig } from './provider-config.ts';
import type { Seen, Stand } from './stand.ts';

interface Known {
  requests: number;
  effects: number;
  hashes: string[];
}

const PUBLISHED: CallOutcome = { kind: 'accepted', effectId: null, code: 'published', diagnostic: '' };

/** A peer on Kafka, in this process: what is published twice under one reference it carries out once, as its inbox makes it. */
class Peer {
  fault: PeerFault | null = null;
  publications = 0;
  readonly stalled = new Set<() => void>();
  readonly known = new Map<string, Known>();

  async publish(delivery: OutgoingMail): Promise<CallOutcome> {
    const { fault } = this;
    this.publications += 1;
    this.#note(delivery);
    if (fault === null) return this.#take(delivery);
    if (fault.effect) this.#take(delivery);
    switch (fault.do) {
      case 'throw':
        throw new Error('the answer to the commit got lost');
      case 'stall':
        await new Promise<void>((goOn) => this.stalled.add(goOn));
        return this.#take(delivery);
      case 'answer':
        return fault.as === 'throttled'
          ? { kind: 'throttled', retryAfterMs: null, code: 'busy', diagnostic: '' }
          : { kind: fault.as, code: 'as-scripted', diagnostic: '' };
    }
  }

  release(): void {
    for (const goOn of this.stalled) goOn();
    this.stalled.clear();
  }

  #note(delivery: OutgoingMail): void {
    const known = this.known.get(delivery.reference) ?? { requests: 0, effects: 0, hashes: [] };
    const hash = createHash('sha256').update(JSON.stringify(delivery)).update(delivery.raw()).digest('hex');
    known.requests += 1;
    if (!known.hashes.includes(hash)) known.hashes.push(hash);
    this.known.set(delivery.reference, known);
  }

  #take({ reference }: OutgoingMail): CallOutcome {
    const known = this.known.get(reference);
    if (known !== undefined) known.effects = 1;
    return PUBLISHED;
  }
}

/** The Kafka peer's adapter before a publish function that misbehaves. */
export function peerStand(): Stand {
  const peer = new Peer();
  return {
    name: 'kafka',
    key: 'replay',
    keyWindowMs: null,
    comparesPayload: false,
    lookup: false,
    lookupShowsReference: false,
    connections: null,
    destinations: [],
    suffers: (fault) => fault.peer !== null,
    saysRetryAfter: false,
    open: () =>
      createProvider(providerConfig({ kind: 'kafka' }), {
        publishDelivery: async (delivery) => await peer.publish(delivery),
      }),
    openChanged: null,
    outgoing: (reference, variant = 'first') => mailOf(reference, variant),
    arm: async (fault) => await set(peer, fault.peer),
    suffersTwice: false,
    batch: null,
    armTwice: async () => await Promise.reject(new Error('an answer is one line or one promise')),
    armLookup: async () => await Promise.reject(new Error('a peer answers no questions')),
    disarm: async () => await set(peer, null),
    seen: async (reference) => await Promise.resolve(seenBy(peer, reference)),
    wire: async () => await Promise.resolve(peer.publications),
    stalled: async () => await Promise.resolve(peer.stalled.size),
    release: async () => await Promise.resolve(peer.release()),
    complaints: async () => await Promise.resolve([]),
  };
}

async function set(peer: Peer, fault: PeerFault | null): Promise<void> {
  peer.fault = fault;
  await Promise.resolve();
}

/** The reference is the key, so each publication has one. */
function seenBy(peer: Peer, reference: string): Seen {
  const { requests, effects, hashes } = peer.known.get(reference) ?? { requests: 0, effects: 0, hashes: [] };
  return { effects, effectId: null, requests, keyed: requests, hashes };
}
