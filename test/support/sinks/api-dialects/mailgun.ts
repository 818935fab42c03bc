import { SINK_CREDENTIALS } from './credentials.ts';
import {
  addressIn,
  basic,
  bodyObject,
  firstMissing,
  json,
  listIn,
  objectIn,
  referenceAmong,
  RETRY_AFTER_SECONDS,
  since,
  textIn,
  unlessHeader,
  type ApiAnswer,
  type ApiDialect,
  type ApiRequest,
  type Effect,
  type Refusal,
  type Submission,
} from './dialect.ts';

const SEND = `/v3/${SINK_CREDENTIALS.domain}/messages`;

export const mailgun: ApiDialect = {
  name: 'mailgun',
  keys: null,
  route: (method, path) => {
    if (method === 'POST' && /^\/v3\/[^/]+\/messages$/.test(path)) return 'send';
    if (method === 'POST' && path === '/v1/analytics/logs') return 'lookup';
    return method === 'GET' && /^\/v3\/[^/]+\/events$/.test(path) ? 'lookup' : null;
  },
  refuseCredential: (request) => unlessHeader(request, 'authorization', basic('api', SINK_CREDENTIALS.apiKey)),
  read,
  effectId: (n) => `20261129184500.${n.toString(16).padStart(16, '0')}@${SINK_CREDENTIALS.domain}`,
  accept: (effect) => json(200, { id: `<${effect.id}>`, message: 'Queued. Thank you.' }),
  refuse,
  find,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  if (request.path !== SEND) return 'Domain not found';
  const form = await formOf(request);
  if (form === null) return 'the body is no form';
  const recipients = form.getAll('to');
  const recipient = recipients.length === 1 ? addressIn(recipients[0]) : null;
  const reference = referenceAmong([...form].filter(([name]) => name.startsWith('v:')).map(([, value]) => value));
  const subject = textIn(form.get('subject'));
  const content = textIn(form.get('text')) ?? textIn(form.get('html'));
  const missing = firstMissing({
    from: addressIn(form.get('from')),
    to: recipient,
    subject,
    text: content,
    'v:': reference,
  });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key: null, keyForm: null };
}

async function formOf(request: ApiRequest): Promise<FormData | null> {
  const type = request.headers['content-type'] ?? '';
  try {
    return await new Response(new Uint8Array(request.body), { headers: { 'content-type': type } }).formData();
  } catch {
    return null;
  }
}

/** Both ways to ask. Neither knows our reference: it filters by recipient, and rows carry the variables. */
function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const old = request.method === 'GET';
  const recipient = old ? request.query.get('recipient') : recipientFilter(request);
  const begin = old ? Number(request.query.get('begin') ?? 0) * 1000 : 0;
  const rows = since(visible, begin).filter((effect) => recipient === null || effect.recipient === recipient);
  const items = rows.map((effect) => ({
    id: `evt-${effect.id}`,
    event: 'accepted',
    ...(old ? { timestamp: effect.at / 1000 } : { '@timestamp': new Date(effect.at).toISOString() }),
    recipient: effect.recipient,
    'user-variables': { 'einmal-ref': effect.reference, reference: effect.reference },
    message: {
      headers: { 'message-id': effect.id, to: effect.recipient, from: 'news@einmal.example', subject: effect.subject },
    },
  }));
  return json(200, old ? { items, paging: {} } : { items, pagination: { total: items.length }, aggregates: {} });
}

function recipientFilter(request: ApiRequest): string | null {
  const conditions = listIn(objectIn(bodyObject(request)['filter'])['AND']).map(objectIn);
  const condition = conditions.find(({ attribute }) => attribute === 'recipient');
  const value = listIn(condition?.['values'])[0];
  return textIn(value) ?? textIn(objectIn(value)['value']);
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
    case 'rejected-message':
      return reason === 'Domain not found' ? json(404, { message: reason }) : json(400, { message: reason });
    case 'rejected-recipient':
      return json(400, { message: 'to parameter is not a valid address. please check documentation' });
    case 'unauthorized':
      return { status: 401, headers: { 'content-type': 'text/plain' }, body: 'Forbidden' };
    case 'forbidden':
      return json(403, { message: 'Domain is not allowed to send: please activate your account.' });
    case 'quota':
      return json(402, { message: 'The account has exceeded its limit.' });
    case 'throttled':
      return json(429, { message: 'too many requests' }, { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return json(503, { message: 'service unavailable' });
    case 'server-error':
      return json(500, { message: 'internal server error' });
    case 'concurrent':
    case 'mismatch':
    case 'duplicate':
    case 'suppressed':
      return null;
  }
}
