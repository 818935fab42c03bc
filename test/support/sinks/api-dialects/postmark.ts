import { SINK_CREDENTIALS } from './credentials.ts';
import {
  addressIn,
  bodyObject,
  firstMissing,
  json,
  jsonIn,
  objectIn,
  plain,
  referenceAmong,
  splitList,
  RETRY_AFTER_SECONDS,
  textIn,
  unlessHeader,
  type ApiAnswer,
  type ApiDialect,
  type ApiRequest,
  type Effect,
  type Refusal,
  type Submission,
} from './dialect.ts';

const MOST_IN_BATCH = 500;

export const postmark: ApiDialect = {
  name: 'postmark',
  keys: null,
  route: (method, path) => {
    if (method === 'POST' && path === '/email') return 'send';
    if (method === 'POST' && path === '/email/batch') return 'batch';
    return method === 'GET' && path === '/messages/outbound' ? 'lookup' : null;
  },
  refuseCredential: (request) => unlessHeader(request, 'x-postmark-server-token', SINK_CREDENTIALS.apiKey),
  read,
  effectId: (n) => `b7bc2f4a-e38e-4336-af7d-${n.toString(16).padStart(12, '0')}`,
  accept: (effect) => json(200, taken(effect)),
  batch: {
    split: (request) => splitList(request, MOST_IN_BATCH),
    isPermissive: () => true,
    accept: (results) =>
      json(
        200,
        results.map((result) =>
          'id' in result ? taken(result) : jsonIn(Buffer.from(refuse(result.refusal, result.reason)?.body ?? '{}')),
        ),
      ),
  },
  refuse,
  find,
};

function taken({ recipient, at, id }: Effect) {
  return { To: recipient, SubmittedAt: new Date(at).toISOString(), MessageID: id, ErrorCode: 0, Message: 'OK' };
}

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const metadata = objectIn(body['Metadata']);
  if (Object.values(metadata).some((value) => typeof value !== 'string')) return 'Metadata: values must be strings';
  const reference = referenceAmong(Object.values(metadata));
  const recipient = addressIn(body['To']);
  const subject = textIn(body['Subject']);
  const content = textIn(body['TextBody']) ?? textIn(body['HtmlBody']);
  const missing = firstMissing({
    From: addressIn(body['From']),
    To: recipient,
    Subject: subject,
    TextBody: content,
    Metadata: reference,
  });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key: null, keyForm: null };
}

function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const wanted = [...request.query].find(([name]) => name.startsWith('metadata_'));
  const count = Number(request.query.get('count'));
  if (!(count >= 1 && count <= 500) || request.query.get('offset') === null) {
    return json(422, { ErrorCode: 600, Message: "You must provide 'count' and 'offset' parameters." });
  }
  const rows = visible.filter(({ reference }) => wanted !== undefined && reference === wanted[1]);
  const Messages = rows.slice(0, count).map((effect) => ({
    MessageID: effect.id,
    MessageStream: 'outbound',
    To: [{ Email: effect.recipient, Name: null }],
    Cc: [],
    Bcc: [],
    Recipients: [effect.recipient],
    ReceivedAt: new Date(effect.at).toISOString(),
    From: 'news@einmal.example',
    Subject: effect.subject,
    Status: 'Sent',
    Metadata: { [(wanted?.[0] ?? '').slice('metadata_'.length)]: effect.reference },
  }));
  return json(200, { TotalCount: rows.length, Messages });
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
    case 'rejected-message':
      return failure(422, 403, `Invalid request: ${reason}`);
    case 'rejected-recipient':
      return failure(422, 300, "Invalid 'To' address.");
    case 'suppressed':
      return failure(422, 406, 'You tried to send to recipients that have been marked as inactive.');
    case 'unauthorized':
      return failure(401, 10, 'The Server Token you provided is missing or not valid.');
    case 'forbidden':
      return failure(422, 400, "The 'From' address you supplied is not a Sender Signature on your account.");
    case 'quota':
      return failure(422, 405, 'You ran out of credits.');
    case 'throttled':
      return plain(429, 'rate limit exceeded', { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return plain(503, 'service unavailable');
    case 'server-error':
      return failure(500, 0, 'internal error');
    case 'concurrent':
    case 'mismatch':
    case 'duplicate':
      return null;
  }
}

function failure(status: number, ErrorCode: number, Message: string): ApiAnswer {
  return json(status, { ErrorCode, Message });
}
