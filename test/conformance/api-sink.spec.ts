import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnApiSink, type ApiAction, type ApiPhase, type ApiRule, type ApiSink } from '../support/sinks/api-sink.ts';
import { eventually } from '../support/eventually.ts';
import { SAMPLE_DIALECTS, sampleLookup, sampleRequest } from './sample-requests.ts';

let sink: ApiSink;
let host: string;

beforeAll(async () => {
  sink = await spawnApiSink();
  host = new URL(sink.apiUrl).host;
});
afterAll(async () => await sink.stop());

const TO = 'jane@to.example';

async function send(
  dialect: string,
  reference: string,
  key: string | null = null,
  init: RequestInit = {},
): Promise<Response> {
  const { path, headers, body } = sampleRequest(dialect, host, reference, TO, key);
  return await fetch(`${sink.apiUrl}${path}`, { method: 'POST', headers, body, redirect: 'manual', ...init });
}

async function lookUp(dialect: string, reference: string): Promise<string> {
  const path = sampleLookup(dialect, reference, TO);
  if (path === null) throw new Error(`${dialect} has no lookup`);
  const { headers } = sampleRequest(dialect, host, reference, TO);
  const response = await fetch(`${sink.apiUrl}${path}`, { headers });
  return await response.text();
}

/** Only for requests with this reference, so that cases cannot disturb each other. */
function at(phase: ApiPhase, action: ApiAction, reference: string): ApiRule {
  return { phase, action, ...(phase === 'lookup' || phase === 'head' ? {} : { reference }) };
}

async function effectsOf(reference: string): Promise<number> {
  return (await sink.counts()).get(reference) ?? 0;
}

describe.each(SAMPLE_DIALECTS)('the API sink as %s', (dialect) => {
  it('counts an effect under our reference, and shows the vendor’s answer', async () => {
    const reference = randomUUID();
    const response = await send(dialect, reference);
    expect(response.status).toBeGreaterThanOrEqual(200);
    expect(response.status).toBeLessThan(300);
    expect(await effectsOf(reference)).toBe(1);
    const seen = (await sink.references(dialect)).get(reference);
    expect(seen).toMatchObject({ dialect, requests: 1, keyed: 0, effects: 1 });
    expect(seen?.hashes).toHaveLength(1);
  });

  it('does nothing for a wrong credential or an incomplete request', async () => {
    const reference = randomUUID();
    const before = await sink.stats(dialect);
    const { path, headers, body } = sampleRequest(dialect, host, reference, TO);
    const stranger = { 'content-type': headers['content-type'] ?? '', authorization: 'Bearer x' };
    const refused = await fetch(`${sink.apiUrl}${path}`, { method: 'POST', headers: stranger, body });
    expect([401, 403]).toContain(refused.status);
    const halfDone = body.replaceAll(reference, '');
    const signed = dialect === 'ses' ? sampleRequest(dialect, host, 'not-a-uuid', TO) : { headers, body: halfDone };
    const incomplete = await fetch(`${sink.apiUrl}${path}`, {
      method: 'POST',
      headers: signed.headers,
      body: signed.body,
    });
    expect([400, 422]).toContain(incomplete.status);
    const stats = await sink.stats(dialect);
    expect(stats.unauthorized).toBe(before.unauthorized + 1);
    expect(stats.malformed.length).toBe(before.malformed.length + 1);
    expect(stats.effects).toBe(before.effects);
  });
});

const ASKED = SAMPLE_DIALECTS.filter((dialect) => sampleLookup(dialect, '', '') !== null);

describe.each(ASKED)('a lookup at %s', (dialect) => {
  it('finds an effect, and not before the index shows it', async () => {
    const reference = randomUUID();
    expect((await send(dialect, reference)).ok).toBe(true);
    const id = (await sink.arrivals(dialect)).find((effect) => effect.reference === reference)?.id ?? 'none';
    await sink.script(dialect, [{ phase: 'lookup', action: { do: 'late' }, times: 1 }]);
    expect(await lookUp(dialect, reference)).not.toContain(id);
    expect(await lookUp(dialect, reference)).toContain(id);
    await sink.script(dialect, []);
  });
});

describe('keys', () => {
  it.each(['resend', 'generic-replay'])('%s answers again without an effect', async (dialect) => {
    const [reference, key] = [randomUUID(), randomUUID()];
    const first = await (await send(dialect, reference, key)).text();
    expect(await (await send(dialect, reference, key)).text()).toBe(first);
    expect(await effectsOf(reference)).toBe(1);
    const other = await send(dialect, randomUUID(), key);
    expect(other.status).toBe(dialect === 'resend' ? 409 : 422);
    expect((await sink.references(dialect)).get(reference)).toMatchObject({ requests: 2, keyed: 2, keys: [key] });
  });

  it('resend calls a key that is being worked on concurrent, and frees one that came to nothing', async () => {
    const [reference, key] = [randomUUID(), randomUUID()];
    await sink.script('resend', [{ ...at('body', { do: 'stall' }, reference), times: 1 }]);
    const first = send('resend', reference, key);
    await eventually('the first to stall', 10_000, async () => (await sink.stats('resend')).stalled === 1);
    const second = await send('resend', reference, key);
    expect(await second.json()).toMatchObject({ name: 'concurrent_idempotent_requests' });
    expect(await sink.release('resend')).toBe(1);
    expect((await first).ok).toBe(true);
    await sink.script('resend', [{ phase: 'body', action: { do: 'refuse', as: 'throttled' }, times: 1 }]);
    const [later, laterKey] = [randomUUID(), randomUUID()];
    expect((await send('resend', later, laterKey)).status).toBe(429);
    expect((await send('resend', later, laterKey)).status).toBe(200);
    expect(await effectsOf(later)).toBe(1);
  });

  it.each(['brevo', 'generic-reject'])('%s says only that the key was seen', async (dialect) => {
    const [reference, key] = [randomUUID(), randomUUID()];
    expect((await send(dialect, reference, key)).status).toBe(201);
    const again = await send(dialect, reference, key);
    expect(again.status).toBe(dialect === 'brevo' ? 400 : 409);
    expect(await again.text()).toMatch(/duplicate_(parameter|key)/);
    expect(await effectsOf(reference)).toBe(1);
  });

  it('mailjet takes the second of a deduplicated campaign and leaves the mail out', async () => {
    const [reference, key] = [randomUUID(), randomUUID()];
    const ids = [await send('mailjet', reference, key), await send('mailjet', reference, key)].map((r) => r.status);
    expect(ids).toEqual([200, 200]);
    expect(await effectsOf(reference)).toBe(1);
  });

  it('forgets keys when told to', async () => {
    const [reference, key] = [randomUUID(), randomUUID()];
    await sink.script('brevo', [at('key', { do: 'forget', afterMs: 0 }, reference)]);
    for (const _ of [1, 2]) expect((await send('brevo', reference, key)).status).toBe(201);
    expect(await effectsOf(reference)).toBe(2);
    expect((await sink.stats('brevo')).doubled).toBe(1);
    await sink.script('brevo', []);
  });

  it('mailjet writes ids that only a careful reader keeps', async () => {
    const text = await (await send('mailjet', randomUUID())).text();
    const digits = /"MessageID":(\d+)/.exec(text)?.[1] ?? '';
    expect(String(Number(digits))).not.toBe(digits);
  });
});

describe('faults', () => {
  it.each<[string, ApiPhase, ApiAction, number]>([
    ['drops after the effect', 'accepted', { do: 'drop' }, 1],
    ['resets after the effect', 'accepted', { do: 'reset' }, 1],
    ['drops before it', 'body', { do: 'drop' }, 0],
    ['resets with the body unread', 'head', { do: 'reset' }, 0],
    ['cuts the connection in the answer', 'accepted', { do: 'truncate', where: 'connection' }, 1],
  ])('%s', async (_what, phase, action, effects) => {
    const reference = randomUUID();
    await sink.script('resend', [at(phase, action, reference)]);
    await expect(send('resend', reference).then(async (response) => await response.text())).rejects.toThrow(TypeError);
    expect(await effectsOf(reference)).toBe(effects);
    await sink.script('resend', []);
  });

  it.each<[ApiAction, number, RegExp]>([
    [{ do: 'garbage' }, 200, /<html>/],
    [{ do: 'empty' }, 200, /^$/],
    [{ do: 'truncate', where: 'json' }, 200, /^\{"id":"[^"]*$/],
    [{ do: 'drip', everyMs: 1 }, 200, /^\{"id":"[^"]+"\}$/],
    [{ do: 'huge', bytes: 300_000 }, 200, /^\{"filler":"x{300000}","id":/],
    [{ do: 'redirect' }, 307, /^$/],
    [{ do: 'refuse', as: 'server-error' }, 500, /internal_server_error/],
    [{ do: 'reply', status: 418, body: 'short and stout' }, 418, /stout/],
  ])('answers %j', async (action, status, text) => {
    const reference = randomUUID();
    await sink.script('resend', [at('accepted', action, reference)]);
    const response = await send('resend', reference);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(text);
    expect(await effectsOf(reference)).toBe(1);
    await sink.script('resend', []);
  });

  it('counts the effect of a stalled request also when the client has left', async () => {
    const reference = randomUUID();
    await sink.script('ses', [at('body', { do: 'stall' }, reference)]);
    const leave = new AbortController();
    const call = send('ses', reference, null, { signal: leave.signal });
    call.catch(() => undefined);
    await eventually('the request to stall', 10_000, async () => (await sink.stats('ses')).stalled === 1);
    leave.abort();
    await expect(call).rejects.toThrow('aborted');
    expect(await effectsOf(reference)).toBe(0);
    expect(await sink.release('ses')).toBe(1);
    await eventually('the effect', 10_000, async () => (await effectsOf(reference)) === 1);
    await sink.script('ses', []);
  });

  it('fires by number and at most so often', async () => {
    const reference = randomUUID();
    const rule = { ...at('body', { do: 'refuse', as: 'unavailable' }, reference), nth: 2 } as const;
    await sink.script('sparkpost', [rule]);
    const statuses = [];
    for (const _ of [1, 2, 3]) statuses.push((await send('sparkpost', reference)).status);
    expect(statuses).toEqual([200, 503, 200]);
    await sink.script('sparkpost', []);
  });

  it('keeps a list of what came to no vendor', async () => {
    const response = await fetch(`${sink.apiUrl}/v9/mail`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(404);
    expect(await sink.strays()).toContain('POST /v9/mail');
  });
});
