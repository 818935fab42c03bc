import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOutcome, LookupOutcome, PreparedCall, Provider } from '../../src/providers/provider.port.ts';
import { spawnSinks, type Sinks } from '../support/sinks/api-sink.ts';
import { apiStand } from './api-stand.ts';
import { totalsOf } from './report.ts';
import { runCases } from './run-suite.ts';
import { SCENARIOS } from './scenarios.ts';
import { API_STANDS, createStands } from './stands.ts';
import type { Stand } from './stand.ts';

let sinks: Sinks | null = null;
beforeAll(async () => void (sinks = await spawnSinks()));
afterAll(async () => await sinks?.stop());

function judges(): Sinks {
  if (sinks === null) throw new Error('the sinks do not run yet');
  return sinks;
}

/** A provider that is right but for what `spoil` changes. */
function spoiled(name: string, spoil: (provider: Provider) => Partial<Provider>): Stand {
  const stand = createStands(judges).find((candidate) => candidate.name === name);
  if (stand === undefined) throw new Error(`no stand ${name}`);
  const { batch } = stand;
  return {
    ...stand,
    open: (destination) => overlaid(stand.open(destination), spoil),
    batch: batch === null ? null : { ...batch, open: () => overlaid(batch.open(), spoil) },
  };
}

function overlaid(provider: Provider, spoil: (provider: Provider) => Partial<Provider>): Provider {
  const changed = spoil(provider);
  return new Proxy(provider, {
    get: (target, member) => {
      if (Object.hasOwn(changed, member)) return Reflect.get(changed, member) as unknown;
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

type Batch = NonNullable<Provider['prepareBatch']>;

/** Batches of a provider, made otherwise. */
function batching(change: (prepareBatch: Batch) => Batch): (provider: Provider) => Partial<Provider> {
  return (provider) => {
    if (provider.prepareBatch === undefined) return {};
    return { prepareBatch: change(provider.prepareBatch.bind(provider)) };
  };
}

const withNewKeys = batching((make) => {
  return (calls) => {
    const { send } = make(calls, randomUUID());
    return { hash: Buffer.alloc(32), send };
  };
});
const inTurns = batching(() => (calls) => ({
  hash: Buffer.alloc(32),
  send: async (timeoutMs) => await Promise.all(calls.map(async ({ send }) => await send(timeoutMs))),
}));
const answeringInReverse = batching((make) => (calls, key) => {
  const { hash, send } = make(calls, key);
  return { hash, send: async (timeoutMs) => (await send(timeoutMs)).toReversed() };
});

type Send = PreparedCall['send'];

function withSend(change: (send: Send) => Send): (provider: Provider) => Partial<Provider> {
  return (provider) => ({
    prepare: (outgoing, shape) => {
      const prepared = provider.prepare(outgoing, shape);
      if (!prepared.ok) return prepared;
      return { ok: true, call: { hash: prepared.call.hash, send: change(async (ms) => await prepared.call.send(ms)) } };
    },
  });
}

function saying(change: (outcome: CallOutcome) => CallOutcome): (provider: Provider) => Partial<Provider> {
  return withSend((send) => async (timeoutMs) => change(await send(timeoutMs)));
}

function finding(found: LookupOutcome): () => Partial<Provider> {
  return () => ({ lookup: async () => await Promise.resolve(found) });
}

const HIT: LookupOutcome = { kind: 'hit', effectId: 'x', state: 'accepted', code: 'http-200', diagnostic: '' };
const MISS: LookupOutcome = { kind: 'miss', code: 'http-200', diagnostic: '' };

const retrying = withSend((send) => async (timeoutMs) => {
  const first = await send(timeoutMs);
  return first.kind === 'ambiguous' ? await send(timeoutMs) : first;
});
const never = withSend(() => async () => await Promise.resolve(lost()));

function lost(): CallOutcome {
  return { kind: 'ambiguous', code: 'lost', diagnostic: '' };
}

let drafts = 0;
/** Renders anew at each preparation, as with a fresh token in a link. */
function rerendering(provider: Provider): Partial<Provider> {
  return {
    prepare: (outgoing, shape) => {
      drafts += 1;
      const parts = outgoing.kind === 'email' ? { ...outgoing.parts, text: `draft ${drafts}` } : null;
      const changed = outgoing.kind === 'email' && parts !== null ? { ...outgoing, parts } : outgoing;
      return provider.prepare(changed, shape);
    },
  };
}

describe('the conformance suite notices a provider that', () => {
  it.each<[string, string, (provider: Provider) => Partial<Provider>, string, RegExp]>([
    ['sends again by itself', 'ses', retrying, 'drop after effect', /2 requests on the wire/],
    ['has a second effect by that', 'ses', retrying, 'drop after effect', /2 effects/],
    ['never sends', 'ses', never, 'drop after effect', /0 requests on the wire/],
    [
      'takes a lost answer for an acceptance',
      'postmark',
      saying((outcome) => (outcome.kind === 'ambiguous' ? { ...outcome, kind: 'accepted', effectId: null } : outcome)),
      'reset when read',
      /accepted \(.*\), not ambiguous/,
    ],
    [
      'takes a lost answer for nothing sent',
      'sparkpost',
      saying((outcome) => (outcome.kind === 'ambiguous' ? { ...outcome, kind: 'not-sent' } : outcome)),
      'stall after effect',
      /not-sent \(.*\), not ambiguous/,
    ],
    [
      'tells another effect id',
      'brevo',
      saying((outcome) => (outcome.kind === 'accepted' ? { ...outcome, effectId: 'made up' } : outcome)),
      'sent',
      /effect id made up/,
    ],
    [
      'forgets how long to wait',
      'resend',
      saying((outcome) => (outcome.kind === 'throttled' ? { ...outcome, retryAfterMs: null } : outcome)),
      'throttled',
      /retryAfterMs is null/,
    ],
    [
      'shows an address',
      'mailgun',
      saying((outcome) => ({ ...outcome, diagnostic: 'jane@to.example is unknown' })),
      'recipient rejected',
      /shows an address/,
    ],
    ['changes the bytes', 'resend', rerendering, 'sent', /hashes differ/],
    ['loses its key’s protection by that', 'resend', rerendering, 'drop after effect', /2 different bodies/],
    ['finds whatever it is asked for', 'mailgun', finding(HIT), 'lookup: another mail', /taken for ours/],
    ['finds what cannot be there yet', 'mailgun', finding(HIT), 'drop after effect', /before the index showed it: hit/],
    ['does not find what is there', 'mailgun', finding(MISS), 'drop after effect', /looked up: miss/],
    ['takes silence for a miss', 'mailgun', finding(MISS), 'lookup: 500', /miss \(.*\), not failed/],
    ['calls a batch again under another key', 'resend', withNewKeys, 'batch: drop after effect', /2 effects/],
    ['makes single calls of a batch', 'resend', inTurns, 'batch: sent', /3 requests on the wire/],
    ['mistakes one message of a batch for another', 'postmark', answeringInReverse, 'batch: sent', /effect id/],
    [
      'goes on after its close',
      'generic-plain',
      () => ({ close: async () => await Promise.resolve() }),
      'closed in flight',
      /a call after the close: ambiguous|the call in flight: none/,
    ],
  ])('%s', async (_what, name, spoil, row, problem) => {
    const scenario = SCENARIOS.find((candidate) => candidate.row === row);
    if (scenario === undefined) throw new Error(`no row ${row}`);
    const [result] = await runCases([{ stand: spoiled(name, spoil), scenario }]);
    expect(result?.problems.join('\n')).toMatch(problem);
  });

  it('sends no key where one is due', async () => {
    const options = API_STANDS['generic-replay'];
    if (options === undefined) throw new Error('no such stand');
    const stand = apiStand(judges, 'generic-replay', {
      ...options,
      config: (baseUrl) => ({ ...options.config(baseUrl), key: null, answers: {} }),
    });
    const scenarios = SCENARIOS.filter(({ row }) => row === 'abilities' || row === 'drop after effect');
    const results = await runCases(scenarios.map((scenario) => ({ stand, scenario })));
    const problems = results.flatMap((result) => result.problems).join('\n');
    expect(problems).toMatch(/key is none, not replay/);
    expect(problems).toMatch(/0 of 2 requests with a key/);
    expect(problems).toMatch(/2 effects/);
    expect(totalsOf(results)).toEqual({ cases: 2, failed: 2, doubled: 1 });
  });
});
