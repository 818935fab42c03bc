import { SINK_CREDENTIALS } from './credentials.ts';
import {
  addressIn,
  bodyObject,
  firstMissing,
  json,
  objectIn,
  referenceAmong,
  RETRY_AFTER_SECONDS,
  since,
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

export const sparkpost: ApiDialect = {
  name: 'sparkpost',
  keys: null,
  route: (method, path) => {
    if (method === 'POST' && path === '/api/v1/transmissions') return 'send';
    return method === 'GET' && path === '/api/v1/events/message' ? 'lookup' : null;
  },
  refuseCredential: (request) => unlessHeader(request, 'authorization', SINK_CREDENTIALS.apiKey),
  read,
  effectId: (n) => String(11_668_787_484_950_000 + n),
  accept: (effect) =>
    json(200, { results: { total_rejected_recipients: 0, total_accepted_recipients: 1, id: effect.id } }),
  refuse,
  find,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const content = objectIn(body['content']);
  const to = objectIn(single(body['recipients']));
  const address = to['address'];
  const recipient = addressIn(typeof address === 'string' ? address : objectIn(address)['email']);
  const values = [...Object.values(objectIn(to['metadata'])), ...Object.values(objectIn(body['metadata']))];
  const reference = referenceAmong(values);
  const subject = textIn(content['subject']);
  const from = addressIn(typeof content['from'] === 'string' ? content['from'] : objectIn(content['from'])['email']);
  const part = textIn(content['text']) ?? textIn(content['html']);
  const missing = firstMissing({ from, recipients: recipient, subject, content: part, metadata: reference });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key: null, keyForm: null };
}

function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const recipients = request.query.get('recipients')?.split(',') ?? null;
  const transmissions = request.query.get('transmissions')?.split(',') ?? null;
  const from = request.query.get('from');
  const rows = since(visible, from === null ? 0 : Date.parse(from)).filter(
    ({ id, recipient }) =>
      (recipients === null || (recipient !== null && recipients.includes(recipient))) &&
      (transmissions === null || transmissions.includes(id)),
  );
  const results = rows.map((effect) => ({
    type: 'injection',
    event_id: `92356927693813${effect.id}`,
    message_id: `000443ee14578172${effect.id.slice(-4)}`,
    transmission_id: effect.id,
    rcpt_to: effect.recipient,
    raw_rcpt_to: effect.recipient,
    rcpt_meta: { 'einmal-ref': effect.reference, reference: effect.reference },
    subject: effect.subject,
    timestamp: new Date(effect.at).toISOString(),
  }));
  return json(200, { results, total_count: results.length, links: {} });
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
    case 'rejected-message':
      return failure(422, 'required field is missing', '1400', reason);
    case 'rejected-recipient':
      return failure(400, 'invalid data format/type', '1300', 'recipient address is not valid');
    case 'unauthorized':
      return failure(401, 'Unauthorized.');
    case 'forbidden':
      return failure(403, 'Forbidden.');
    case 'throttled':
      return failure(429, 'Too many requests', undefined, undefined, { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'quota':
      return failure(420, 'Exceed Sending Limit (daily)', '2102', 'sending limit exceeded');
    case 'unavailable':
      return failure(503, 'Service unavailable');
    case 'server-error':
      return failure(500, 'Internal server error');
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
  code?: string,
  description?: string,
  headers: Record<string, string> = {},
): ApiAnswer {
  return json(status, { errors: [{ message, code, description }] }, headers);
}
