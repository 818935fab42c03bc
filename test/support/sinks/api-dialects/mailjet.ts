import { SINK_CREDENTIALS } from './credentials.ts';
import {
  addressIn,
  basic,
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

/** Above 2^53, and with a last digit that a double cannot hold. */
const FIRST_ID = 1_152_921_504_606_846_977n;

export const mailjet: ApiDialect = {
  name: 'mailjet',
  // How long a campaign is compared is not documented; longer than any test here.
  keys: { kind: 'dedupe', windowMs: 24 * 3_600_000, comparesPayload: false },
  route: (method, path) => {
    if (method === 'POST' && path === '/v3.1/send') return 'send';
    return method === 'GET' && path === '/v3/REST/message' ? 'lookup' : null;
  },
  refuseCredential: (request) =>
    unlessHeader(request, 'authorization', basic(SINK_CREDENTIALS.apiKey, SINK_CREDENTIALS.secret)),
  read,
  effectId: (n) => String(FIRST_ID + 2n * BigInt(n)),
  accept: (effect, request) => withNumbers(200, { Messages: [accepted(effect, request)] }),
  refuse,
  find,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const message = objectIn(single(body['Messages']));
  const recipient = addressIn(objectIn(single(message['To']))['Email']);
  const reference = referenceAmong([message['CustomID'], message['EventPayload']]);
  const subject = textIn(message['Subject']);
  const content = textIn(message['TextPart']) ?? textIn(message['HTMLPart']);
  const from = addressIn(objectIn(message['From'])['Email']);
  const missing = firstMissing({ From: from, To: recipient, Subject: subject, TextPart: content, CustomID: reference });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  const campaign = textIn(message['CustomCampaign']);
  const key = message['DeduplicateCampaign'] === true && campaign !== null ? `${campaign} ${recipient}` : null;
  return { reference, recipient, subject, key, keyForm: key === null ? null : 'member' };
}

function accepted(effect: Effect, request: ApiRequest): unknown {
  const message = objectIn(single(bodyObject(request)['Messages']));
  const to = { Email: effect.recipient, MessageUUID: uuidOf(effect.id), MessageID: number(effect.id), MessageHref: '' };
  return { Status: 'success', CustomID: textIn(message['CustomID']) ?? '', To: [to], Cc: [], Bcc: [] };
}

function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const customId = request.query.get('CustomID');
  const from = Number(request.query.get('FromTS') ?? 0) * 1000;
  const shown = request.query.get('ShowCustomID') === 'true';
  const rows = since(visible, from).filter(({ reference }) => customId === null || reference === customId);
  const Data = rows.map((effect) => ({
    ArrivedAt: new Date(effect.at).toISOString(),
    AttachmentCount: 0,
    AttemptCount: 0,
    ContactID: 1,
    ...(shown ? { CustomID: effect.reference } : {}),
    ID: number(effect.id),
    Status: 'sent',
    Subject: effect.subject,
    UUID: uuidOf(effect.id),
  }));
  return withNumbers(200, { Count: Data.length, Data, Total: Data.length });
}

function uuidOf(id: string): string {
  return `7e8b4d60-5a1f-4c3e-9d21-${id.slice(-12)}`;
}

/** Marks digits that stand in the answer as a number, which JSON.stringify would not write exactly. */
function number(digits: string): string {
  return `#${digits}#`;
}

function withNumbers(status: number, value: unknown): ApiAnswer {
  const answer = json(status, value);
  return { ...answer, body: answer.body.replaceAll(/"#(\d+)#"/g, '$1') };
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
    case 'rejected-message':
      return ofMessage('mj-0003', reason, 'TextPart');
    case 'rejected-recipient':
      return ofMessage('mj-0013', 'The address is an invalid email address.', 'To[0].Email');
    case 'unauthorized':
      return ofRequest(401, 'API key authentication/authorization failure.');
    case 'forbidden':
      return ofRequest(403, 'Your account has been temporarily blocked.');
    case 'throttled':
      return ofRequest(429, 'Too many requests.', { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return ofRequest(503, 'Service unavailable.');
    case 'server-error':
      return ofRequest(500, 'Internal server error.');
    case 'quota':
    case 'concurrent':
    case 'mismatch':
    case 'duplicate':
    case 'suppressed':
      return null;
  }
}

function ofMessage(ErrorCode: string, ErrorMessage: string, related: string): ApiAnswer {
  const error = {
    ErrorIdentifier: 'f987008f-251a-4dff-8ffc-40f1583ad7bc',
    ErrorCode,
    StatusCode: 400,
    ErrorMessage,
    ErrorRelatedTo: [related],
  };
  return json(400, { Messages: [{ Status: 'error', Errors: [error] }] });
}

function ofRequest(StatusCode: number, ErrorMessage: string, headers: Record<string, string> = {}): ApiAnswer {
  const ErrorIdentifier = '0cb2a1f7-3a1d-4c07-8d52-6d3d2f4a7a10';
  return json(StatusCode, { ErrorIdentifier, StatusCode, ErrorMessage }, headers);
}
