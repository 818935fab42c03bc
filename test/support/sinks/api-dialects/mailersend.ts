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

export const mailersend: ApiDialect = {
  name: 'mailersend',
  keys: null,
  route: (method, path) => {
    if (method === 'POST' && path === '/v1/email') return 'send';
    return method === 'GET' && path === '/v1/emails' ? 'lookup' : null;
  },
  refuseCredential: (request) => unlessHeader(request, 'authorization', `Bearer ${SINK_CREDENTIALS.apiKey}`),
  read,
  effectId: (n) => `5e42957d51f1d94a${n.toString(16).padStart(8, '0')}`,
  accept: (effect) => plain(202, '', { 'x-message-id': effect.id }),
  refuse,
  find,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const tags = listIn(body['tags']);
  if (tags.length > 5) return 'tags: at most 5';
  const reference = referenceAmong(tags);
  const recipient = addressIn(objectIn(single(body['to']))['email']);
  const subject = textIn(body['subject']);
  const content = textIn(body['text']) ?? textIn(body['html']);
  const from = addressIn(objectIn(body['from'])['email']);
  const missing = firstMissing({ from, to: recipient, subject, text: content, tags: reference });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key: null, keyForm: null };
}

function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const tags = [...request.query].filter(([name]) => /^tags?(\[\d*\])?$/.test(name)).map(([, value]) => value);
  const recipient = request.query.get('recipient_email');
  const from = Number(request.query.get('date_from') ?? 0) * 1000;
  const rows = since(visible, from).filter(
    (effect) =>
      (tags.length === 0 || tags.includes(effect.reference)) && (recipient === null || effect.recipient === recipient),
  );
  const data = rows.map((effect) => ({
    id: effect.id,
    message_id: effect.id,
    from: 'news@einmal.example',
    subject: effect.subject,
    status: 'sent',
    tags: [effect.reference],
    recipient: { email: effect.recipient },
    created_at: new Date(effect.at).toISOString(),
  }));
  return json(200, { data, links: { next: null }, meta: { current_page: 1, per_page: 25 } });
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
    case 'rejected-message':
      return invalid('subject', reason);
    case 'rejected-recipient':
      return invalid('to.0.email', 'The to.0.email must be a valid email address.');
    case 'suppressed':
      return json(202, {
        message: 'There are some warnings for your request.',
        warnings: [
          {
            type: 'ALL_SUPPRESSED',
            warning: 'All the recipients have been suppressed.',
            recipients: [{ email: 'address', name: '', reasons: ['hard_bounced'] }],
          },
        ],
      });
    case 'unauthorized':
      return json(401, { message: 'Unauthenticated.' });
    case 'forbidden':
      return json(403, { message: 'This action is unauthorized.' });
    case 'throttled':
      return json(429, { message: 'Too Many Attempts.' }, { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return json(503, { message: 'Service Unavailable' });
    case 'server-error':
      return json(500, { message: 'Server Error' });
    case 'quota':
    case 'concurrent':
    case 'mismatch':
    case 'duplicate':
      return null;
  }
}

function invalid(field: string, message: string): ApiAnswer {
  return json(422, { message: 'The given data was invalid.', errors: { [field]: [message] } });
}
