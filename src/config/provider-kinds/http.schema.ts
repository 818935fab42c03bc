import { z } from 'zod';
import { parseJsonPath } from '../../providers/http/json-path.ts';
import { fillTemplate, parseTemplate } from '../../providers/http/reference-template.ts';
import { flag, line, strictMap, wholeNumber } from '../schema-parts.ts';
import { baseUrl } from './base-url.ts';
import { commonKeys, MISSES, secret, seconds } from './common-keys.ts';

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const headerName = () => z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,75}$/, 'must be the name of a header');
const headerValue = () => line(2048).refine((text) => /^[\x20-\x7e]*$/.test(text), 'must be ASCII');

/** Of the connection, of the body, or a key of their own below. */
const RESERVED =
  /^(?:host|connection|content-length|content-type|transfer-encoding|expect|upgrade|te|trailer|keep-alive|authorization|cookie|proxy-.*|idempotency-key)$/i;

const jsonPath = () =>
  line(200).refine((text) => parseJsonPath(text) !== null, 'must be a path of names and indexes like $.items[0].id');

const template = () =>
  line(2048).refine((text) => parseTemplate(text) !== null, 'must have nothing between braces but {{ reference }}');

const requestPath = () =>
  line(2048).refine(
    (text) => isRequestPath(text),
    'must begin with one slash and have nothing in braces but {{ reference }}',
  );

function isRequestPath(text: string): boolean {
  const template = parseTemplate(text);
  return template !== null && /^\/(?!\/)[\x21\x22\x24-\x5b\x5d-\x7e]*$/.test(fillTemplate(template, 'x'));
}

/** A status, all of a hundred (`2xx`), or a status with what the JSON of the answer must say. */
const matcher = z.union(
  [
    wholeNumber(200, 599),
    z.string().regex(/^[2-5]xx$/),
    strictMap({ status: wholeNumber(200, 599), jsonPath: jsonPath(), equals: line(200) }),
  ],
  { error: 'must be a status, a text like 4xx, or { status, jsonPath, equals }' },
);
const matchers = () => z.array(matcher).max(50).nullable().default(null);

const auth = z.union(
  [
    strictMap({ bearer: secret() }),
    strictMap({ basic: strictMap({ user: line(320), password: secret() }) }),
    strictMap({ header: strictMap({ name: headerName(), value: secret() }) }),
  ],
  { error: 'must be one of bearer, basic: { user, password }, header: { name, value }' },
);

const key = strictMap({
  header: headerName().default('Idempotency-Key'),
  form: z.enum(['raw', 'quoted']).default('raw'),
  kind: z.enum(['replay', 'reject-duplicate']),
  windowSeconds: seconds(),
  marginSeconds: seconds(0).default(60),
  comparesPayload: flag().default(false),
});

/** null of a list: what the kind of the key and the usual meaning of statuses say. */
const answers = strictMap({
  accepted: matchers(),
  duplicate: matchers(),
  concurrent: matchers(),
  mismatch: matchers(),
  rejected: matchers(),
  throttled: matchers(),
  account: matchers(),
});

const lookup = strictMap({
  method: z.enum(['GET']).default('GET'),
  path: requestPath(),
  found: strictMap({ jsonPath: jsonPath(), equals: template().nullable().default(null) }),
  effectId: strictMap({ jsonPath: jsonPath() }).nullable().default(null),
  minAgeSeconds: seconds(),
  miss: z.enum(MISSES).default('hold'),
});

/** Any endpoint that takes JSON by HTTP. */
export const httpSchema = strictMap({
  kind: z.literal('http'),
  baseUrl: baseUrl(),
  allowPrivate: flag().default(false),
  auth: auth.nullable().default(null),
  headers: z
    .record(headerName(), headerValue())
    .refine(
      (all) => !Object.keys(all).some((name) => RESERVED.test(name)),
      'must not set a header that the service sets',
    )
    .default({}),
  methods: z.array(z.enum(HTTP_METHODS)).min(1).default(['POST', 'PUT', 'PATCH', 'DELETE']),
  paths: z
    .array(line(2048).regex(/^\/[\x21\x22\x24-\x7e]*$/, 'must begin with a slash'))
    .min(1)
    .max(100)
    .default(['/']),
  mail: strictMap({ method: z.enum(['POST', 'PUT']).default('POST'), path: requestPath() })
    .nullable()
    .default(null),
  key: key.nullable().default(null),
  answers: answers.prefault({}),
  effectId: strictMap({ jsonPath: jsonPath() }).nullable().default(null),
  lookup: lookup.nullable().default(null),
  receipt: strictMap({ waitSeconds: seconds() }).nullable().default(null),
  ...commonKeys,
});
