import { createProvider } from '../../src/providers/create-provider.ts';
import type { Outgoing, Provider } from '../../src/providers/provider.port.ts';
import { ALL_DIALECTS } from '../support/sinks/api-dialects/all-dialects.ts';
import type { ApiDialect } from '../support/sinks/api-dialects/dialect.ts';
import type { ApiAction, Refusal, Sinks } from '../support/sinks/api-sink.ts';
import type { Fault } from './faults.ts';
import { providerConfig, type RawConfig } from './provider-config.ts';
import type { BatchStand, Destination, LookupFault, Seen, Stand } from './stand.ts';

export interface ApiStandOptions {
  readonly key: Stand['key'];
  readonly keyWindowMs?: number;
  readonly comparesPayload?: boolean;
  readonly lookup: boolean;
  readonly lookupShowsReference?: boolean;
  /** Whether it takes several mails in one request. */
  readonly batches?: boolean;
  /** The provider's part of einmal.yaml. */
  readonly config: (baseUrl: string) => RawConfig;
  /** Settings that shape the bytes, other than those of `config`; null: there are none. */
  readonly changed: Readonly<Record<string, unknown>> | null;
  readonly outgoing: (reference: string, variant: string) => Outgoing;
}

/** Of each provider under test. */
export const CONNECTIONS = 2;

const LOOKUP_ACTIONS: Readonly<Record<LookupFault, ApiAction>> = {
  late: { do: 'late' },
  careless: { do: 'careless' },
  'server-error': { do: 'refuse', as: 'server-error' },
  throttled: { do: 'refuse', as: 'throttled' },
  garbage: { do: 'garbage' },
  stall: { do: 'stall' },
  drop: { do: 'drop' },
};

/** An adapter for an HTTP API before the sink that speaks as this vendor. The stand has the dialect's name. */
export function apiStand(sinks: () => Sinks, name: string, options: ApiStandOptions): Stand {
  const dialect = dialectOf(name);
  const judge = (): Sinks['api'] => sinks().api;
  const { key, keyWindowMs = null, comparesPayload = false, changed, lookup, lookupShowsReference = lookup } = options;
  const { batches = false } = options;
  return {
    name,
    key,
    keyWindowMs,
    comparesPayload,
    lookup,
    lookupShowsReference,
    connections: CONNECTIONS,
    destinations: ['a closed port', 'an unknown host', 'a server without TLS'],
    suffers: ({ api }) => api !== null && (api.action.do !== 'refuse' || refuses(dialect, key, api.action.as)),
    saysRetryAfter: dialect.refuse('throttled', '')?.headers['retry-after'] !== undefined,
    open: (destination) => open(options, baseUrlOf(judge().apiUrl, destination ?? 'the sink')),
    openChanged: changed === null ? null : () => open(options, judge().apiUrl, changed),
    outgoing: (reference, variant = 'first') => options.outgoing(reference, variant),
    arm: async ({ api }: Fault) => await judge().script(name, api === null ? [] : [api]),
    batch: batches ? batchStand(judge, name, options) : null,
    suffersTwice: true,
    armTwice: async () => await judge().script(name, [{ phase: 'accepted', action: { do: 'twice' }, times: 1 }]),
    armLookup: async (fault) => await judge().script(name, [{ phase: 'lookup', action: LOOKUP_ACTIONS[fault] }]),
    disarm: async () => await judge().script(name, []),
    seen: async (reference) => await seenBy(judge(), name, reference),
    wire: async () => (await judge().stats(name)).requests,
    stalled: async () => (await judge().stats(name)).stalled,
    release: async () => void (await judge().release(name)),
    complaints: async () => {
      const { malformed, unauthorized } = await judge().stats(name);
      return [...malformed, ...(unauthorized === 0 ? [] : [`${unauthorized} requests without the credential`])];
    },
  };
}

function batchStand(judge: () => Sinks['api'], name: string, options: ApiStandOptions): BatchStand {
  const action = { do: 'refuse', as: 'rejected-message' } as const;
  return {
    open: () => open(options, judge().apiUrl, { batchSize: 50 }),
    refuse: async (reference) => await judge().script(name, [{ phase: 'message', action, reference }]),
  };
}

function dialectOf(name: string): ApiDialect {
  const dialect = ALL_DIALECTS.find((candidate) => candidate.name === name);
  if (dialect === undefined) throw new Error(`the sink does not speak ${name}`);
  return dialect;
}

/** What is said of a key is said only to those who send one. */
function refuses(dialect: ApiDialect, key: Stand['key'], refusal: Refusal): boolean {
  if (refusal === 'duplicate') return key === 'reject-duplicate';
  const aboutKeys = refusal === 'concurrent' || refusal === 'mismatch';
  return dialect.refuse(refusal, '') !== null && !(aboutKeys && key === 'none');
}

function open({ config }: ApiStandOptions, baseUrl: string, more: Readonly<Record<string, unknown>> = {}): Provider {
  const parts = { publishDelivery: () => Promise.reject(new Error('this provider publishes nothing')) };
  return createProvider(providerConfig({ ...config(baseUrl), ...more }), parts);
}

function baseUrlOf(sinkUrl: string, destination: Destination): string {
  switch (destination) {
    case 'the sink':
      return sinkUrl;
    case 'a closed port':
      // tcpmux: nobody has listened there for decades.
      return 'http://127.0.0.1:1';
    case 'an unknown host':
      return 'http://einmal.invalid';
    case 'a server without TLS':
      return sinkUrl.replace('http:', 'https:');
  }
}

async function seenBy(judge: Sinks['api'], dialect: string, reference: string): Promise<Seen> {
  const seen = (await judge.references(dialect)).get(reference);
  if (seen === undefined) return { effects: 0, effectId: null, requests: 0, keyed: 0, hashes: [] };
  const { effects, requests, keyed, hashes } = seen;
  const effect = (await judge.arrivals(dialect)).find((arrival) => arrival.reference === reference);
  return { effects, effectId: effect?.id ?? null, requests, keyed, hashes };
}
