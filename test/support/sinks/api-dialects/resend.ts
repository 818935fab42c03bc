import { SINK_CREDENTIALS } from './credentials.ts';
import {
  addressIn,
  bodyObject,
  firstMissing,
  json,
  listIn,
  objectIn,
  referenceAmong,
  RETRY_AFTER_SECONDS,
  single,
  splitList,
  textIn,
  unlessHeader,
  type ApiAnswer,
  type ApiDialect,
  type ApiRequest,
  type Effect,
  type Refusal,
  type Submission,
} from './dialect.ts';

const TAG = /^[A-Za-z0-9_-]{1,256}$/;
const PAGE = 20;
const MOST_IN_BATCH = 100;

export const resend: ApiDialect = {
  name: 'resend',
  keys: { kind: 'replay', windowMs: 24 * 3_600_000, comparesPayload: true },
  route: (method, path) => {
    if (path === '/emails') return method === 'POST' ? 'send' : method === 'GET' ? 'lookup' : null;
    if (path === '/emails/batch') return method === 'POST' ? 'batch' : null;
    return method === 'GET' && /^\/emails\/[^/]+$/.test(path) ? 'lookup' : null;
  },
  refuseCredential: (request) => unlessHeader(request, 'authorization', `Bearer ${SINK_CREDENTIALS.apiKey}`),
  read,
  effectId: (n) => `49a3999c-0ce1-4ea6-ab68-${n.toString(16).padStart(12, '0')}`,
  accept: (effect) => json(200, { id: effect.id }),
  batch: {
    split: (request) => splitList(request, MOST_IN_BATCH),
    isPermissive: (request) => request.headers['x-batch-validation'] === 'permissive',
    accept: (results) =>
      json(200, {
        data: results.flatMap((result) => ('id' in result ? [{ id: result.id }] : [])),
        errors: results.flatMap((result, index) => ('id' in result ? [] : [{ index, message: result.reason }])),
      }),
  },
  refuse,
  find,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const tags = listIn(body['tags']).map(objectIn);
  if (tags.some(({ name, value }) => !TAG.test(textIn(name) ?? '') || !TAG.test(textIn(value) ?? ''))) {
    return 'tags: a name or value has characters that are not allowed';
  }
  if (request.path === '/emails/batch' && (body['attachments'] ?? body['scheduled_at']) !== undefined) {
    return 'attachments and scheduled_at are not for batches';
  }
  const key = request.headers['idempotency-key'] ?? null;
  if (key !== null && (key.length === 0 || key.length > 256)) return 'invalid_idempotency_key';
  const recipient = addressIn(typeof body['to'] === 'string' ? body['to'] : single(body['to']));
  const reference = referenceAmong(tags.map(({ value }) => value));
  const subject = textIn(body['subject']);
  const content = textIn(body['text']) ?? textIn(body['html']);
  const missing = firstMissing({
    from: addressIn(body['from']),
    to: recipient,
    subject,
    text: content,
    tags: reference,
  });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key, keyForm: key === null ? null : 'raw' };
}

/** Rows have no tags, and nothing can be filtered: newest first, a page at a time. */
function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const newestFirst = visible.toReversed().map((effect) => ({
    id: effect.id,
    to: [effect.recipient],
    from: 'news@einmal.example',
    created_at: new Date(effect.at).toISOString().replace('T', ' ').replace('Z', '000+00'),
    subject: effect.subject,
    bcc: null,
    cc: null,
    reply_to: null,
    last_event: 'sent',
    scheduled_at: null,
  }));
  if (request.path !== '/emails') return oneOf(request, newestFirst, visible);
  const limit = Math.min(100, Number(request.query.get('limit') ?? PAGE));
  const after = request.query.get('after');
  const begin = after === null ? 0 : newestFirst.findIndex(({ id }) => id === after) + 1;
  const data = newestFirst.slice(begin, begin + limit);
  return json(200, { object: 'list', has_more: begin + limit < newestFirst.length, data });
}

function oneOf(request: ApiRequest, rows: readonly { readonly id: string }[], visible: readonly Effect[]): ApiAnswer {
  const id = request.path.slice('/emails/'.length);
  const row = rows.find((candidate) => candidate.id === id);
  if (row === undefined) return failure(404, 'not_found', 'Email not found');
  const reference = visible.find((effect) => effect.id === id)?.reference;
  return json(200, { object: 'email', ...row, tags: [{ name: 'einmal-ref', value: reference }] });
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
      if (reason === 'invalid_idempotency_key') return failure(400, reason, 'The key must be 1-256 characters.');
      return failure(422, 'missing_required_field', reason);
    case 'rejected-message':
      return failure(422, 'invalid_attachment', reason);
    case 'rejected-recipient':
      return failure(422, 'validation_error', 'Invalid `to` field.');
    case 'unauthorized':
      return failure(401, 'missing_api_key', 'Missing API key in the authorization header.');
    case 'forbidden':
      return failure(403, 'validation_error', 'The domain is not verified.');
    case 'quota':
      return failure(429, 'daily_quota_exceeded', 'You have reached your daily email sending quota.');
    case 'throttled':
      return failure(429, 'rate_limit_exceeded', 'Too many requests.', { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return failure(503, 'service_unavailable', 'Service unavailable.');
    case 'server-error':
      return failure(500, 'internal_server_error', 'An unexpected error occurred.');
    case 'concurrent':
      return failure(
        409,
        'concurrent_idempotent_requests',
        'Same idempotency key used while the first is in progress.',
      );
    case 'mismatch':
      return failure(409, 'invalid_idempotent_request', 'Same idempotency key used with a different payload.');
    case 'duplicate':
    case 'suppressed':
      return null;
  }
}

function failure(statusCode: number, name: string, message: string, headers: Record<string, string> = {}): ApiAnswer {
  return json(statusCode, { statusCode, name, message }, headers);
}
