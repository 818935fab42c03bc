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
  textIn,
  unlessHeader,
  type ApiAnswer,
  type ApiDialect,
  type ApiRequest,
  type Effect,
  type Refusal,
  type Submission,
} from './dialect.ts';

const KEY = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const brevo: ApiDialect = {
  name: 'brevo',
  // The shorter of the two times that the vendor's texts name.
  keys: { kind: 'reject', windowMs: 15 * 60_000, comparesPayload: false },
  route: (method, path) => {
    if (method === 'POST' && path === '/v3/smtp/email') return 'send';
    return method === 'GET' && (path === '/v3/smtp/statistics/events' || path === '/v3/smtp/emails') ? 'lookup' : null;
  },
  refuseCredential: (request) => unlessHeader(request, 'api-key', SINK_CREDENTIALS.apiKey),
  read,
  effectId: (n) => `<20261129.${String(n).padStart(12, '0')}@smtp-relay.mailin.fr>`,
  accept: (effect) => json(201, { messageId: effect.id }),
  refuse,
  find,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const headers = objectIn(body['headers']);
  // The vendor's page and its SDK name different members, so a client that gives both must give the same.
  const keys = [headers['idempotencyKey'], headers['Idempotency-Key']].map(textIn).filter((text) => text !== null);
  const key = keys[0] ?? null;
  if (keys.some((text) => text !== key || !KEY.test(text))) return 'headers.idempotencyKey must be one UUID';
  const reference = referenceAmong([...listIn(body['tags']), headers['X-Mailin-custom']]);
  const recipient = addressIn(objectIn(single(body['to']))['email']);
  const subject = textIn(body['subject']);
  const content = textIn(body['textContent']) ?? textIn(body['htmlContent']);
  const from = addressIn(objectIn(body['sender'])['email']);
  const missing = firstMissing({ sender: from, to: recipient, subject, textContent: content, tags: reference });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key, keyForm: key === null ? null : 'member' };
}

function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const email = request.query.get('email');
  const tags = tagsOf(request);
  const rows = visible.filter(
    (effect) => (email === null || effect.recipient === email) && (tags === null || tags.includes(effect.reference)),
  );
  // What the vendor does when there is nothing: the member is not there.
  if (rows.length === 0) return json(200, {});
  if (request.path === '/v3/smtp/emails') {
    const transactionalEmails = rows.map((effect) => ({ ...row(effect), tags: [effect.reference] }));
    return json(200, { count: rows.length, transactionalEmails });
  }
  const events = rows.map((effect) => ({ ...row(effect), event: 'requests', tag: effect.reference }));
  return json(200, { events });
}

function tagsOf(request: ApiRequest): readonly unknown[] | null {
  const given = request.query.get('tags');
  if (given === null) return null;
  try {
    return listIn(JSON.parse(given));
  } catch {
    return [];
  }
}

function row(effect: Effect): Record<string, unknown> {
  const date = new Date(effect.at).toISOString();
  return { email: effect.recipient, subject: effect.subject, messageId: effect.id, date, from: 'news@einmal.example' };
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
      return failure(400, 'missing_parameter', reason);
    case 'rejected-message':
      return failure(400, 'invalid_parameter', reason);
    case 'rejected-recipient':
      return failure(400, 'invalid_parameter', 'email is not valid in to');
    case 'unauthorized':
      return failure(401, 'unauthorized', 'Key not found');
    case 'forbidden':
      return failure(403, 'permission_denied', 'Your account is under validation.');
    case 'quota':
      return failure(402, 'not_enough_credits', 'You do not have enough credits.');
    case 'throttled':
      return failure(429, 'too_many_requests', 'Too many requests.', { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return failure(503, 'service_unavailable', 'Service unavailable.');
    case 'server-error':
      return failure(500, 'internal_error', 'Internal error.');
    case 'duplicate':
      return failure(400, 'duplicate_parameter', 'Idempotency key has been used already.');
    case 'concurrent':
    case 'mismatch':
    case 'suppressed':
      return null;
  }
}

function failure(status: number, code: string, message: string, headers: Record<string, string> = {}): ApiAnswer {
  return json(status, { code, message }, headers);
}
