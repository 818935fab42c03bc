import { z } from 'zod';
import type { JsonSchema } from '../../messaging/contracts/json-schema.ts';
import { PROBLEM_TYPES, problemType, type ProblemName } from '../problem-types.ts';
import { problem } from '../schemas/answers.schema.ts';
import { operationBody } from './operation-body.ts';
import { ROUTES, type AnswerDoc, type Body, type RouteDoc } from './route-docs.ts';

/** Of the API's own, and not of the service behind it. */
const API_VERSION = '1.0.0';

const DESCRIPTION = `Makes an operation take effect once, or says that it does not know.

Every call but the open ones needs a bearer token of a tenant, with the scope that it names. Errors are problem documents (RFC 9457). Every answer of \`/v1\` carries \`X-Request-Id\`: the caller's, when it is 1 to 128 of A-Z, a-z, 0-9 and \`._:/+=~-\`, else a new one. Each token has a rate; what goes beyond is answered 429 with \`Retry-After\`. Bodies are strict JSON in UTF-8 of at most 1 MiB, not compressed, without a member twice. Lengths count UTF-16 code units. Rules between members, and sizes in bytes, are validated but have no form in the schemas. Decisions leave a row in the audit; asking for operations does not.`;

type Json = Readonly<Record<string, unknown>>;

/** Refusals of every route under a token, by status. */
const REFUSALS: Readonly<Record<string, string>> = {
  400: 'The request breaks a rule; each field and rule is named.',
  401: 'No token, one that is not known, or one that has expired.',
  403: 'The token lacks the scope.',
  404: 'Not there, or not of this tenant.',
  409: 'It is no longer what was seen.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is not JSON in UTF-8, or compressed.',
  422: 'It was understood and refused.',
  429: `The rate of the token is used up: \`${problemType('too-many-requests')}\`. \`Retry-After\` says for how many seconds.`,
  500: 'Something failed inside; the log has the reason.',
  503: 'The database is away; ask again later.',
};

/** The OpenAPI 3.1 document, made from the schemas that validate. Plain JSON, the same at each call. */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Einmal',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(ROUTES.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: pathsOf(ROUTES),
    components: {
      schemas: { Problem: schemaOf(problem, 'output') },
      responses: Object.fromEntries(Object.entries(REFUSALS).map(([status, words]) => [status, refusal(words)])),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A token of a tenant.' } },
    },
  };
}

function pathsOf(routes: readonly RouteDoc[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operationOf(route);
  return paths;
}

function operationOf(route: RouteDoc): Json {
  const { operationId, tag, summary, description, scope, body } = route;
  const parameters = parametersOf(route);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(scope === null && description === undefined
      ? {}
      : { description: [description, scope && `Needs the scope \`${scope}\`.`].filter(Boolean).join('\n\n') }),
    security: scope === null ? [] : [{ bearer: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: { 'application/json': contentOf(body) } } } : {}),
    responses: responsesOf(route),
  };
}

function contentOf(body: Body): Json {
  const schema = 'operation' in body ? operationBody() : schemaOf(body.schema, 'input');
  return { schema, examples: { one: { value: body.example } } };
}

function responsesOf(route: RouteDoc): Json {
  const { answers, scope, body, filters, problems = [], conflict, notFound } = route;
  const named = Object.groupBy(problems, (name) => String(PROBLEM_TYPES[name].status));
  const refused = [
    ...(body || filters ? ['400'] : []),
    ...(scope === null ? [] : ['401', '403', '429', '500', '503']),
    ...(notFound ? ['404'] : []),
    ...(conflict ? ['409'] : []),
    ...(body ? ['413', '415'] : []),
  ].filter((status) => !named[status]);
  return {
    ...Object.fromEntries(answersByStatus(answers)),
    ...Object.fromEntries(refused.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    ...Object.fromEntries(
      Object.entries(named).map(([status, names = []]) => [status, namedRefusal(status, names, conflict)]),
    ),
  };
}

function answersByStatus(answers: readonly AnswerDoc[]): [string, Json][] {
  return answers.map(({ status, description, schema, mediaType = 'application/json', example }) => [
    String(status),
    {
      description,
      content: {
        [mediaType]: {
          schema: schemaOf(schema, 'output'),
          ...(example === undefined ? {} : { examples: { one: { value: example } } }),
        },
      },
    },
  ]);
}

function refusal(description: string): Json {
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

function namedRefusal(status: string, names: readonly ProblemName[], conflict = ''): Json {
  const words = names.map((name) => `- \`${problemType(name)}\`: ${PROBLEM_TYPES[name].description}`);
  const examples = names.map((name) => {
    const { title } = PROBLEM_TYPES[name];
    return [name, { value: { type: problemType(name), title, status: Number(status), detail: title } }] as const;
  });
  return {
    description: [REFUSALS[status], conflict, '', ...words].join('\n').trim(),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function parametersOf({ path, filters, body }: RouteDoc): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'Percent-encoded.',
    schema: { type: 'string', minLength: 1 },
  }));
  const inQuery = filters ? queryOf(schemaOf(filters, 'output')) : [];
  return [...inPath, ...inQuery, ...(body && 'operation' in body ? [IDEMPOTENCY_KEY, TRACEPARENT] : [])];
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    "The operation key, 1 to 512 characters: visible ASCII as it is (and without quotes around it), any other as `UTF-8''` and percent-encoded UTF-8. Required unless `operationKey` is in the body; not for many.",
  schema: { type: 'string', minLength: 1 },
  examples: { plain: { value: 'order-17:confirmation' }, encoded: { value: "UTF-8''order%2017%20%C3%A4" } },
};

const TRACEPARENT = {
  name: 'traceparent',
  in: 'header',
  required: false,
  description: 'W3C Trace Context; handed on to the events.',
  schema: { type: 'string' },
};

function queryOf({ properties = {} }: JsonSchema): Json[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    // A position is opaque: what it is read as is nobody's business.
    schema: Object.keys(schema).length === 0 ? { type: 'string', minLength: 1, maxLength: 200 } : schema,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  }) as JsonSchema;
  return rest;
}
