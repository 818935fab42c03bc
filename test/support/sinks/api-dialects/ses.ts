import { createHash, createHmac } from 'node:crypto';
import { SINK_CREDENTIALS } from './credentials.ts';
import {
  addressIn,
  bodyObject,
  firstMissing,
  json,
  listIn,
  objectIn,
  referenceAmong,
  single,
  textIn,
  type ApiAnswer,
  type ApiDialect,
  type ApiRequest,
  type Refusal,
  type Submission,
} from './dialect.ts';

/** Values of tags: a wider set is refused by the vendor. */
const TAG = /^[A-Za-z0-9_-]{1,256}$/;
/** How far the request's clock may be off. */
const CLOCK_TOLERANCE_MS = 15 * 60_000;

export const ses: ApiDialect = {
  name: 'ses',
  keys: null,
  route: (method, path) => (method === 'POST' && path === '/v2/email/outbound-emails' ? 'send' : null),
  refuseCredential: signatureFault,
  read,
  effectId: (n) =>
    `0107018f${n.toString(16).padStart(8, '0')}-5b0c2f6e-0000-4000-8000-${String(n).padStart(12, '0')}-000000`,
  accept: (effect) => json(200, { MessageId: effect.id }),
  refuse,
};

async function read(request: ApiRequest): Promise<Submission | string> {
  const body = bodyObject(request);
  const content = objectIn(body['Content']);
  const raw = Buffer.from(textIn(objectIn(content['Raw'])['Data']) ?? '', 'base64').toString('utf8');
  const tags = listIn(body['EmailTags']).map(objectIn);
  if (tags.some(({ Name, Value }) => !TAG.test(textIn(Name) ?? '') || !TAG.test(textIn(Value) ?? ''))) {
    return 'EmailTags: a name or value has characters that are not allowed';
  }
  const to = objectIn(body['Destination'])['ToAddresses'];
  const recipient = to === undefined ? addressIn(headerOf(raw, 'to')) : addressIn(single(to));
  const reference = referenceAmong(tags.map(({ Value }) => Value));
  const subject = headerOf(raw, 'subject');
  const missing = firstMissing({ 'Content.Raw.Data': subject, Destination: recipient, EmailTags: reference });
  if (missing !== null || recipient === null || reference === null) return missing ?? 'incomplete';
  return { reference, recipient, subject, key: null, keyForm: null };
}

function headerOf(raw: string, name: string): string | null {
  const head = raw.slice(0, Math.max(0, raw.indexOf('\r\n\r\n'))).replaceAll(/\r\n[ \t]+/g, ' ');
  const line = head.split('\r\n').find((text) => text.toLowerCase().startsWith(`${name}:`));
  return line === undefined ? null : line.slice(name.length + 1).trim();
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
    case 'rejected-recipient':
      return failure(400, 'BadRequestException', reason);
    case 'rejected-message':
      return failure(400, 'MessageRejected', 'Email address is not verified.');
    case 'unauthorized':
      return failure(403, 'InvalidSignatureException', reason);
    case 'forbidden':
      return failure(403, 'AccessDeniedException', reason);
    case 'quota':
      return failure(400, 'LimitExceededException', 'Daily message quota exceeded.');
    case 'throttled':
      return failure(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
    case 'unavailable':
      return json(503, { message: 'Service Unavailable' });
    case 'server-error':
      return failure(500, 'InternalServiceErrorException', 'internal error');
    case 'concurrent':
    case 'mismatch':
    case 'duplicate':
    case 'suppressed':
      return null;
  }
}

function failure(status: number, type: string, message: string): ApiAnswer {
  return json(status, { message }, { 'x-amzn-errortype': type });
}

/** Signature Version 4, calculated anew from what arrived. */
function signatureFault(request: ApiRequest): string | null {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers['authorization'] ?? '',
    );
  if (given === null) return 'no Signature Version 4 in header authorization';
  const [, accessKey = '', day = '', region = '', service = '', names = '', signature] = given;
  const moment = request.headers['x-amz-date'] ?? '';
  if (accessKey !== SINK_CREDENTIALS.accessKeyId) return 'the access key is not known';
  if (region !== SINK_CREDENTIALS.region || service !== 'ses') return 'the credential is scoped to another service';
  if (!names.split(';').includes('host')) return 'the host is not signed';
  if (!moment.startsWith(day) || Math.abs(timeOf(moment) - Date.now()) > CLOCK_TOLERANCE_MS) {
    return 'the date is missing or too far away';
  }
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', moment, scope, sha256(canonical(request, names))].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
    hmac,
    Buffer.from(`AWS4${SINK_CREDENTIALS.secret}`),
  );
  return hmac(key, toSign).toString('hex') === signature ? null : 'the signature does not match';
}

function canonical(request: ApiRequest, names: string): string {
  const headers = names
    .split(';')
    .map((name) => `${name}:${(request.headers[name] ?? '').trim().replaceAll(/ +/g, ' ')}\n`);
  const query = [...request.query].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const path = request.path.split('/').map(encodeURIComponent).join('/');
  return [request.method, path, query.toSorted().join('&'), headers.join(''), names, sha256(request.body)].join('\n');
}

function timeOf(moment: string): number {
  return Date.parse(moment.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
