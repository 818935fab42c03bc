import { SINK_CREDENTIALS } from './credentials.ts';
import {
  addressIn,
  bodyObject,
  firstMissing,
  json,
  listIn,
  objectIn,
  plain,
  referenceAmong,
  single,
  textIn,
  RETRY_AFTER_SECONDS,
  unlessHeader,
  type ApiAnswer,
  type ApiDialect,
  type ApiRequest,
  type Effect,
  type Refusal,
  type Submission,
} from './dialect.ts';

export const sendgrid: ApiDialect = {
  name: 'sendgrid',
  keys: null,
  route: (method, path) => {
    if (method === 'POST' && path === '/v3/mail/send') return 'send';
    return method === 'GET' && path === '/v3/messages' ? 'lookup' : null;
  },
  refuseCredential: (request) => unlessHeader(request, 'authorization', `Bearer ${SINK_CREDENTIALS.apiKey}`),
  read,
  effectId: (n) => `sGx${String(n).padStart(19, '0')}`,
  accept: (effect) => plain(202, '', { 'x-message-id': effect.id }),
  refuse,
  find,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const personalization = objectIn(single(body['personalizations']));
  const recipient = addressIn(objectIn(single(personalization['to']))['email']);
  const args = { ...objectIn(body['custom_args']), ...objectIn(personalization['custom_args']) };
  const reference = referenceAmong(Object.values(args));
  const subject = textIn(personalization['subject']) ?? textIn(body['subject']);
  const contents = listIn(body['content']).map((part) => textIn(objectIn(part)['type']));
  // The vendor refuses any other order of the parts.
  if (contents.includes('text/html') && contents.includes('text/plain') && contents[0] !== 'text/plain') {
    return 'content: text/plain must come before text/html';
  }
  const from = addressIn(objectIn(body['from'])['email']);
  const missing = firstMissing({
    from,
    subject,
    content: contents[0],
    'personalizations.to': recipient,
    custom_args: reference,
  });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key: null, keyForm: null };
}

function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const query = request.query.get('query') ?? '';
  if (query === '' || request.query.get('limit') === null) return failure(400, 'query and limit are required');
  const wanted = [
    ...query.matchAll(/unique_args\[['"]?[\w-]+['"]?\]\s*=\s*"([^"]*)"|msg_id\s+LIKE\s+['"]([^'"%]*)%['"]/gi),
  ];
  const rows = visible.filter((effect) =>
    wanted.some(
      ([, reference, prefix]) =>
        effect.reference === reference || (prefix !== undefined && effect.id.startsWith(prefix)),
    ),
  );
  const messages = rows.map((effect) => ({
    from_email: 'news@einmal.example',
    msg_id: `${effect.id}.recvd-5d8f6-1.0`,
    subject: effect.subject,
    to_email: effect.recipient,
    status: 'processed',
    opens_count: 0,
    clicks_count: 0,
    last_event_time: new Date(effect.at).toISOString(),
  }));
  return json(200, { messages });
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
    case 'rejected-message':
      return failure(400, reason, 'content');
    case 'rejected-recipient':
      return failure(400, 'Does not contain a valid address.', 'personalizations.0.to.0.email');
    case 'unauthorized':
      return failure(401, 'The provided authorization grant is invalid, expired, or revoked');
    case 'forbidden':
      return failure(403, 'The from address does not match a verified Sender Identity.', 'from');
    case 'quota':
      return failure(401, 'Maximum credits exceeded');
    case 'throttled':
      return failure(429, 'too many requests', null, { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return failure(503, 'service unavailable');
    case 'server-error':
      return failure(500, 'internal server error');
    case 'concurrent':
    case 'mismatch':
    case 'duplicate':
    case 'suppressed':
      return null;
  }
}

function failure(
  status: number,
  message: string,
  field: string | null = null,
  headers: Record<string, string> = {},
): ApiAnswer {
  return json(status, { errors: [{ message, field, help: null }] }, headers);
}
