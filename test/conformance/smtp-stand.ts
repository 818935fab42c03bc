import { createProvider } from '../../src/providers/create-provider.ts';
import type { Provider } from '../../src/providers/provider.port.ts';
import type { Sinks } from '../support/sinks/api-sink.ts';
import { CONNECTIONS } from './api-stand.ts';
import { mailOf } from './outgoing.ts';
import { providerConfig } from './provider-config.ts';
import type { Destination, Seen, Stand } from './stand.ts';

/** The SMTP adapter before the SMTP sink. */
export function smtpStand(sinks: () => Sinks): Stand {
  const judge = (): Sinks['smtp'] => sinks().smtp;
  return {
    name: 'smtp',
    key: 'none',
    keyWindowMs: null,
    comparesPayload: false,
    lookup: false,
    lookupShowsReference: false,
    connections: CONNECTIONS,
    destinations: ['a closed port', 'an unknown host', 'a server without TLS'],
    suffers: ({ smtp }) => smtp !== null,
    saysRetryAfter: false,
    open: (destination) => open(judge(), destination ?? 'the sink'),
    openChanged: null,
    outgoing: (reference, variant = 'first') => mailOf(reference, variant),
    arm: async ({ smtp }) => await judge().script(smtp === null ? [] : [smtp]),
    suffersTwice: false,
    batch: null,
    armTwice: async () => await Promise.reject(new Error('an answer is one line or one promise')),
    armLookup: async () => await Promise.reject(new Error('SMTP answers no questions')),
    disarm: async () => await judge().script([]),
    seen: async (reference) => await seenBy(judge(), reference),
    wire: async () => (await judge().stats()).transactions,
    stalled: async () => (await judge().stats()).stalled,
    release: async () => void (await judge().release()),
    complaints: async () => await Promise.resolve([]),
  };
}

function open({ host, port }: Sinks['smtp'], destination: Destination): Provider {
  const server = {
    host: destination === 'an unknown host' ? 'einmal.invalid' : host,
    port: destination === 'a closed port' ? 1 : port,
    security: destination === 'a server without TLS' ? 'starttls' : 'none',
  };
  const parts = { publishDelivery: () => Promise.reject(new Error('this provider publishes nothing')) };
  return createProvider(providerConfig({ kind: 'smtp', ...server, connections: CONNECTIONS }), parts);
}

/** A mail that was not taken leaves no trace at the sink: requests are those that were. */
async function seenBy(judge: Sinks['smtp'], reference: string): Promise<Seen> {
  const messageId = `<${reference}@einmal.example>`;
  const effects = (await judge.counts()).get(messageId) ?? 0;
  const hashes = (await judge.hashes()).get(messageId) ?? [];
  return { effects, effectId: null, requests: effects, keyed: 0, hashes };
}
