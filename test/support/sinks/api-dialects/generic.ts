import { SINK_CREDENTIALS } from './credentials.ts';
import {
  bodyObject,
  firstMissing,
  json,
  RETRY_AFTER_SECONDS,
  textIn,
  unlessHeader,
  type ApiAnswer,
  type ApiDialect,
  type ApiRequest,
  type Effect,
  type KeyHabit,
  type Refusal,
  type Submission,
} from './dialect.ts';

const WINDOW_MS = 3_600_000;

/** `/generic/replay/...`: header `Idempotency-Key` as it is; after the IETF's draft in everything else. */
export const genericReplay = createGeneric(
  'replay',
  { kind: 'replay', windowMs: WINDOW_MS, comparesPayload: true },
  'raw',
);
/** `/generic/reject/...`: header `Idempotency-Key` as a quoted string; a key that was seen is refused. */
export const genericReject = createGeneric(
  'reject',
  { kind: 'reject', windowMs: WINDOW_MS, comparesPayload: false },
  'quoted',
);
/** `/generic/plain/...`: looks at no key. */
export const genericPlain = createGeneric('plain', null, 'raw');

/**
 * `POST`, `PUT` or `PATCH` of anything below the prefix does something: `{"reference": ..., "to"?: ..., ...}`, answered by
 * `{"data": {"id", "reference"}}`. `GET .../things?ref=R` finds it. Errors are `{"error": {"code", "message"}}`.
 */
function createGeneric(profile: string, keys: KeyHabit | null, form: 'raw' | 'quoted'): ApiDialect {
  const prefix = `/generic/${profile}/`;
  return {
    name: `generic-${profile}`,
    keys,
    route: (method, path) => {
      if (!path.startsWith(prefix)) return null;
      return method === 'GET' ? 'lookup' : 'send';
    },
    refuseCredential: (request) => unlessHeader(request, 'authorization', `Bearer ${SINK_CREDENTIALS.apiKey}`),
    read: async (request) => read(request, form),
    effectId: (n) => `thing-${profile}-${n}`,
    accept: (effect) => json(201, { data: { id: effect.id, reference: effect.reference } }),
    refuse,
    find,
  };
}

function read(request: ApiRequest, form: 'raw' | 'quoted'): Submission | string {
  const body = bodyObject(request);
  const header = request.headers['idempotency-key'] ?? null;
  const key = header === null ? null : keyIn(header, form);
  if (header !== null && key === null) return `Idempotency-Key must be ${form}`;
  const reference = textIn(body['reference']);
  const missing = firstMissing({ reference });
  if (missing !== null || reference === null) return missing ?? 'incomplete';
  const [recipient, subject] = [textIn(body['to']), textIn(body['subject'])];
  return { reference, recipient, subject, key, keyForm: key === null ? null : form };
}

function keyIn(header: string, form: 'raw' | 'quoted'): string | null {
  const quoted = /^"([^"\\]{1,255})"$/.exec(header)?.[1] ?? null;
  if (form === 'quoted') return quoted;
  return quoted === null && header !== '' ? header : null;
}

function find(request: ApiRequest, visible: readonly Effect[]): ApiAnswer {
  const items = visible
    .filter(({ reference }) => reference === request.query.get('ref'))
    .map(({ id, reference }) => ({ id, reference, status: 'done' }));
  return json(200, { items });
}

function refuse(refusal: Refusal, reason: string): ApiAnswer | null {
  switch (refusal) {
    case 'bad-request':
      return failure(400, 'bad_request', reason);
    case 'rejected-message':
      return failure(400, 'invalid', reason);
    case 'unauthorized':
      return failure(401, 'unauthorized', reason);
    case 'forbidden':
      return failure(403, 'forbidden', reason);
    case 'quota':
      return failure(402, 'payment_required', reason);
    case 'throttled':
      return failure(429, 'slow_down', reason, { 'retry-after': String(RETRY_AFTER_SECONDS) });
    case 'unavailable':
      return failure(503, 'unavailable', reason);
    case 'server-error':
      return failure(500, 'internal', reason);
    case 'concurrent':
      return failure(409, 'in_progress', reason);
    case 'mismatch':
      return failure(422, 'key_reused', reason);
    case 'duplicate':
      return failure(409, 'duplicate_key', reason);
    case 'rejected-recipient':
    case 'suppressed':
      return null;
  }
}

function failure(status: number, code: string, message: string, headers: Record<string, string> = {}): ApiAnswer {
  return json(status, { error: { code, message } }, headers);
}
