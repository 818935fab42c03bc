import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnApiSink, type ApiSink } from '../support/sinks/api-sink.ts';
import { sampleRequest } from './sample-requests.ts';

let sink: ApiSink;
let host: string;

beforeAll(async () => {
  sink = await spawnApiSink();
  host = new URL(sink.apiUrl).host;
});
afterAll(async () => await sink.stop());

interface Part {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function partOf(dialect: string, reference: string): Part {
  const { path, headers, body } = sampleRequest(dialect, host, reference, 'jane@to.example', null);
  return { path, headers, body };
}

async function post(path: string, body: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  return await fetch(`${sink.apiUrl}${path}`, { method: 'POST', headers, body });
}

async function sendBatch(
  dialect: 'resend' | 'postmark',
  references: readonly string[],
  more: Readonly<Record<string, string>> = { 'x-batch-validation': 'permissive' },
  items: readonly string[] = [],
): Promise<{ readonly status: number; readonly body: unknown }> {
  const parts = references.map((reference) => partOf(dialect, reference));
  const headers = { ...partOf(dialect, randomUUID()).headers, ...more };
  const list = [...parts.map(({ body }) => body), ...items];
  const response = await post(dialect === 'resend' ? '/emails/batch' : '/email/batch', `[${list.join(',')}]`, headers);
  return { status: response.status, body: await response.json() };
}

const effectsOf = async (references: readonly string[]): Promise<(number | undefined)[]> => {
  const counts = await sink.counts();
  return references.map((reference) => counts.get(reference));
};

const two = (): string[] => [randomUUID(), randomUUID()];

describe.each(['resend', 'postmark'] as const)('the API sink as %s, asked for several mails at once', (dialect) => {
  it('counts one request and an effect for each', async () => {
    const references = two();
    const { requests } = await sink.stats(dialect);
    expect((await sendBatch(dialect, references)).status).toBe(200);
    expect(await effectsOf(references)).toEqual([1, 1]);
    expect((await sink.stats(dialect)).requests).toBe(requests + 1);
  });

  it('refuses the one that it is told to', async () => {
    const references = two();
    const action = { do: 'refuse', as: 'rejected-message' } as const;
    await sink.script(dialect, [{ phase: 'message', action, reference: references[0] ?? '' }]);
    expect((await sendBatch(dialect, references)).status).toBe(200);
    await sink.script(dialect, []);
    expect(await effectsOf(references)).toEqual([0, 1]);
  });

  it('takes the others where one has not the form, and tells the judge', async () => {
    const references = two();
    const { malformed } = await sink.stats(dialect);
    expect((await sendBatch(dialect, references, undefined, ['{}'])).status).toBe(200);
    expect(await effectsOf(references)).toEqual([1, 1]);
    expect((await sink.stats(dialect)).malformed).toHaveLength(malformed.length + 1);
  });

  it('refuses what is too much or no list', async () => {
    const many = Array.from({ length: dialect === 'resend' ? 101 : 501 }, () => '{}');
    expect((await sendBatch(dialect, [], undefined, many)).status).toBe(422);
    expect((await sendBatch(dialect, [], undefined, [])).status).toBe(422);
  });
});

const keyed = (key: string) => ({ 'x-batch-validation': 'permissive', 'idempotency-key': key });

describe('the API sink as resend', () => {
  it('answers the same batch under the same key as before, and another one with a refusal', async () => {
    const references = two();
    const key = randomUUID();
    const first = await sendBatch('resend', references, keyed(key));
    expect(await sendBatch('resend', references, keyed(key))).toEqual(first);
    expect((await sendBatch('resend', references.slice(1), keyed(key))).status).toBe(409);
    expect((await sendBatch('resend', references.toReversed(), keyed(key))).status).toBe(409);
    expect(await effectsOf(references)).toEqual([1, 1]);
  });

  it('has a second effect for a mail of a batch that is sent alone: the key of the batch does not cover it', async () => {
    const [reference = ''] = two();
    const key = randomUUID();
    await sendBatch('resend', [reference], keyed(key));
    const { path, headers, body } = partOf('resend', reference);
    await post(path, body, { ...headers, 'idempotency-key': key });
    expect(await effectsOf([reference])).toEqual([2]);
  });

  it('takes nothing of a batch that is not permissive where one is wrong', async () => {
    const references = two();
    expect((await sendBatch('resend', references, {}, ['{}'])).status).toBe(422);
    expect(await effectsOf(references)).toEqual([undefined, undefined]);
  });
});
