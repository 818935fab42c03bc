import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { auditRows, createGround, makeUnknown, type UnknownsGround } from './unknowns-ground.ts';

let ground: UnknownsGround;

beforeAll(async () => {
  ground = await createGround(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await ground.tearDown());
beforeEach(async () => await ground.rig.reset());

const PROBLEM = expect.stringContaining('application/problem+json');
const ONE = '/v1/operations/a/resolve';
const MANY = '/v1/unknowns/resolve';
const DECISION = { as: 'sent', reason: 'asked them', claimNumber: 2 };
const MANY_DECISIONS = { as: 'sent', reason: 'x', operations: [{ operationKey: 'a', claimNumber: 2 }] };
const UNTIL = '2026-12-01T00:00:00Z';

function operations(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ operationKey: `k${index}`, claimNumber: 1 }));
}

function without(name: keyof typeof DECISION): object {
  const { [name]: _, ...rest } = DECISION;
  return rest;
}

describe('a body that is not the JSON that is asked for', () => {
  const text = JSON.stringify(DECISION);
  const deep = `{"as":"sent","reason":${'['.repeat(1000)}${']'.repeat(1000)}}`;

  it.each<[string, Buffer | string, string]>([
    ['is empty', '', 'the value is empty'],
    ['is no JSON', '{"as":', 'the data is not JSON'],
    ['names a member twice', '{"as":"sent","as":"not-sent"}', 'a member name appears twice in one object'],
    ['begins with a byte order mark', `\ufeff${text}`, 'the value begins with a byte order mark'],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 'the value is not UTF-8'],
    ['begins with a zero byte', Buffer.from([0, 0x7b, 0x7d]), 'the value begins with a zero byte'],
    ['is nested 1000 deep', deep, 'nested deeper than 16'],
    ['is a number that would not survive', '{"claimNumber":12345678901234567890}', 'number'],
  ])('%s', async (_case, body, rule) => {
    await makeUnknown(ground.rig, ['a']);
    const answer = await ground.post(ONE, body);
    expect(answer).toMatchObject({
      status: 400,
      type: PROBLEM,
      body: { title: 'Bad Request', errors: [{ field: '', rule: expect.stringContaining(rule) }] },
    });
    expect(await ground.rig.states()).toEqual({ unknown: 1 });
  });

  it.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/json; charset=latin1' }],
    [{ 'content-type': 'application/x-www-form-urlencoded' }],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('says %j', async (headers) => {
    const answer = await ground.post(ONE, DECISION, 'operator', headers);
    expect(answer).toMatchObject({ status: 415, type: PROBLEM, body: { title: 'Unsupported Media Type' } });
  });

  it.each([
    ['of 1 MiB and a byte', 1024 * 1024 + 1],
    ['of 4 MiB', 4 * 1024 * 1024],
  ])('%s is too large', async (_size, bytes) => {
    const answer = await ground.post(ONE, JSON.stringify(DECISION).padEnd(bytes));
    expect(answer).toMatchObject({ status: 413, type: PROBLEM, body: { title: 'Content Too Large' } });
  });

  it('of 1 MiB is read', async () => {
    const answer = await ground.post(ONE, JSON.stringify(DECISION).padEnd(1024 * 1024));
    expect(answer.status).toBe(404);
  });

  it('that never ends is cut off', async () => {
    const { hostname, port } = new URL(ground.service.url);
    const headers = { authorization: 'Bearer operator', 'content-type': 'application/json' };
    const sending = request({ hostname, port, path: ONE, method: 'POST', headers });
    const closed = new Promise<void>((resolve) => void sending.on('close', resolve));
    // The answer may get lost in what is still on its way.
    sending.on('error', () => undefined).on('response', (response) => void response.resume());
    const chunk = Buffer.alloc(256 * 1024, ' ');
    let sent = 0;
    const send = (error?: Error | null): void => {
      if (error || sending.destroyed) return;
      sent += chunk.length;
      sending.write(chunk, send);
    };
    send();
    await closed;
    expect(sent).toBeGreaterThan(8 * 1024 * 1024);
    expect((await ground.ask('/v1/providers')).status).toBe(200);
  });
});

describe('each member has its rule', () => {
  it.each<[string, unknown, string, string]>([
    ['no object', [], '', 'must be a map of keys'],
    ['without as', without('as'), 'as', 'is required'],
    ['without a reason', without('reason'), 'reason', 'is required'],
    ['without a claim number', without('claimNumber'), 'claimNumber', 'is required'],
    ['as something else', { ...DECISION, as: 'delivered' }, 'as', 'must be one of sent, not-sent, wait'],
    ['reason empty', { ...DECISION, reason: '' }, 'reason', 'must have at least 1 characters'],
    ['reason blank', { ...DECISION, reason: ' \n' }, 'reason', 'must not be blank'],
    ['reason too long', { ...DECISION, reason: 'x'.repeat(1001) }, 'reason', 'must have at most 1000 characters'],
    ['reason with U+0000', { ...DECISION, reason: 'a\0b' }, 'reason', 'must not hold U+0000 or lone surrogates'],
    [
      'reason with half a pair',
      { ...DECISION, reason: 'a\ud800' },
      'reason',
      'must not hold U+0000 or lone surrogates',
    ],
    ['reason no text', { ...DECISION, reason: 1 }, 'reason', 'must be a text'],
    ['claim number as text', { ...DECISION, claimNumber: '2' }, 'claimNumber', 'must be a number'],
    ['claim number below 0', { ...DECISION, claimNumber: -1 }, 'claimNumber', 'must be at least 0'],
    ['claim number broken', { ...DECISION, claimNumber: 1.5 }, 'claimNumber', 'must be a whole number'],
    ['wait without until', { ...DECISION, as: 'wait' }, 'until', 'is required'],
    ['until without wait', { ...DECISION, until: UNTIL }, 'until', 'is for wait only'],
    [
      'until without offset',
      { ...DECISION, as: 'wait', until: '2026-12-01T00:00:00' },
      'until',
      'must be an RFC 3339 time with offset, 1970 to 9999',
    ],
    ['misspelt', { ...DECISION, resaon: 'x' }, 'resaon', 'is not known (did you mean reason?)'],
    ['unlike any', { ...DECISION, zzzzzzzz: 1 }, 'zzzzzzzz', 'is not known'],
    ['a prototype', '{"as":"sent","reason":"x","claimNumber":1,"__proto__":{}}', '__proto__', 'is not known'],
  ])('of one operation: %s', async (_case, body, field, rule) => {
    await makeUnknown(ground.rig, ['a']);
    const answer = await ground.post(ONE, body);
    expect(answer).toMatchObject({ status: 400, type: PROBLEM, body: { errors: [{ field, rule }] } });
    expect(await ground.rig.states()).toEqual({ unknown: 1 });
    expect(await auditRows(ground.rig)).toEqual([]);
  });

  it.each<[string, unknown, string, string]>([
    ['none', { ...MANY_DECISIONS, operations: [] }, 'operations', 'must have at least 1 entry'],
    ['1001', { ...MANY_DECISIONS, operations: operations(1001) }, 'operations', 'must have at most 1000 entries'],
    [
      'one twice',
      { ...MANY_DECISIONS, operations: [...operations(2), ...operations(1)] },
      'operations[2].operationKey',
      'is there twice',
    ],
    [
      'an empty key',
      { ...MANY_DECISIONS, operations: [{ operationKey: '', claimNumber: 1 }] },
      'operations[0].operationKey',
      'must have at least 1 characters',
    ],
    [
      'a key too long',
      { ...MANY_DECISIONS, operations: [{ operationKey: 'k'.repeat(513), claimNumber: 1 }] },
      'operations[0].operationKey',
      'must have at most 512 characters',
    ],
    [
      'a member misspelt inside',
      { ...MANY_DECISIONS, operations: [{ operationKey: 'a', claimNumber: 1, claimnumbers: 1 }] },
      'operations[0].claimnumbers',
      'is not known (did you mean claimNumber?)',
    ],
  ])('of many operations: %s', async (_case, body, field, rule) => {
    const answer = await ground.post(MANY, body);
    expect(answer).toMatchObject({ status: 400, type: PROBLEM, body: { errors: [{ field, rule }] } });
  });

  it('tells all that is wrong at once', async () => {
    const { body } = await ground.post(ONE, { as: 'x', resaon: 'y' });
    const fields = (body['errors'] as { field: string }[]).map(({ field }) => field);
    expect(fields.toSorted()).toEqual(['as', 'claimNumber', 'reason', 'resaon']);
  });

  it('of a provider', async () => {
    const answer = await ground.post('/v1/providers/main/resume', {});
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'reason', rule: 'is required' }] } });
  });
});

describe('each filter has its rule', () => {
  it.each([
    ['/v1/unknowns?limit=0', 'limit', 'must be at least 1'],
    ['/v1/unknowns?limit=201', 'limit', 'must be at most 200'],
    ['/v1/unknowns?limit=ten', 'limit', 'must be a number'],
    ['/v1/unknowns?limit=1&limit=2', 'limit', 'must be a number'],
    ['/v1/unknowns?after=', 'after', 'must have at least 1 characters'],
    ['/v1/unknowns?after=AAAA', 'after', 'must be the next of an earlier answer'],
    [
      `/v1/unknowns?after=${Buffer.from('2026-13-41T00:00:00.000000Z/00000000-0000-0000-0000-000000000000').toString('base64url')}`,
      'after',
      'must be the next of an earlier answer',
    ],
    ['/v1/unknowns?provider=Main', 'provider', 'must be 1 to 63 of a-z, 0-9 and -, and not start with -'],
    ['/v1/unknowns?campaign=%00', 'campaign', 'must not hold control characters or lone surrogates'],
    ['/v1/unknowns?olderThanSeconds=-1', 'olderThanSeconds', 'must be a number'],
    ['/v1/unknowns?olderthansecond=5', 'olderthansecond', 'is not known (did you mean olderThanSeconds?)'],
    ['/v1/audit?after=0', 'after', 'must be the next of an earlier answer'],
    ['/v1/audit?object=%00', 'object', 'must not hold U+0000 or lone surrogates'],
    ['/v1/audit?objects=x', 'objects', 'is not known (did you mean object?)'],
    ['/v1/providers?x=1', 'x', 'is not known'],
  ])('%s', async (path, field, rule) => {
    const answer = await ground.ask(path);
    expect(answer).toMatchObject({ status: 400, type: PROBLEM, body: { errors: [{ field, rule }] } });
  });
});

describe('scopes', () => {
  const READS = ['/v1/unknowns', '/v1/providers', '/v1/audit', '/v1/operations/a'];
  const DECIDES = [ONE, MANY, '/v1/providers/main/resume'];

  it.each(READS)('%s needs read', async (path) => {
    for (const token of ['requester', 'decider'] as const) {
      expect(await ground.ask(path, token)).toMatchObject({
        status: 403,
        type: PROBLEM,
        body: { missingScope: 'read' },
      });
    }
    expect((await ground.ask(path, 'reader')).status).not.toBe(403);
  });

  it.each(DECIDES)('%s needs operate, and says so before it looks at the body', async (path) => {
    for (const token of ['reader', 'requester'] as const) {
      const answer = await ground.post(path, 'not even JSON', token);
      expect(answer).toMatchObject({ status: 403, type: PROBLEM, body: { missingScope: 'operate' } });
    }
    expect((await ground.post(path, '', 'decider')).status).toBe(400);
  });

  it.each([...READS, ...DECIDES])('%s is closed without a token', async (path) => {
    const init = DECIDES.includes(path) ? { method: 'POST', body: '{}' } : {};
    const response = await fetch(`${ground.service.url}${path}`, init);
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toEqual(PROBLEM);
  });
});
