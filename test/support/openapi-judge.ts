import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { openApiDocument } from '../../src/api/openapi/document.ts';

/** The parts of the document that tests look at. */
export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, OpenApiResponse>> };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly description?: string;
  readonly security: readonly object[];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, OpenApiContent>> };
  readonly responses: Readonly<Record<string, OpenApiResponse | { readonly $ref: string }>>;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: object;
}

export interface OpenApiContent {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly content: Readonly<Record<string, OpenApiContent>>;
}

/** A pointer into the document, by its members. */
type Place = readonly string[];

const DOCUMENT = 'openapi';
export const openApi = structuredClone(openApiDocument()) as unknown as OpenApi;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...openApi, $id: DOCUMENT });
const validators = new Map<string, ValidateFunction>();

/** What is wrong with a value by the schema at this place of the document, or null. */
export function flawAt(place: Place, value: unknown): string | null {
  const pointer = place.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const isRight = validators.get(pointer) ?? ajv.compile({ $ref: `${DOCUMENT}#/${pointer}` });
  validators.set(pointer, isRight);
  return isRight(value) ? null : ajv.errorsText(isRight.errors);
}

/** The operation that answers this request, with its place; undefined for a route that the document does not have. */
export function routeOf(method: string, url: string): { operation: OpenApiOperation; place: Place } | undefined {
  const [path = ''] = url.split('?');
  const verb = method.toLowerCase();
  const found = Object.keys(openApi.paths)
    .toSorted((one, other) => Number(one.includes('{')) - Number(other.includes('{')))
    .find((template) => openApi.paths[template]?.[verb] && formOf(template).test(path));
  const operation = found && openApi.paths[found]?.[verb];
  return found && operation ? { operation, place: ['paths', found, verb] } : undefined;
}

function formOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/[.]/g, String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** What is wrong with an answer by the document, or null: its status, its media type, its body. */
export function answerFlaw(
  method: string,
  url: string,
  answer: { status: number; type: string; body: unknown },
): string | null {
  const route = routeOf(method, url);
  if (!route) return `${method} ${url}: no such route in the document`;
  const status = String(answer.status);
  const told = route.operation.responses[status];
  if (!told) return `${method} ${url}: status ${status} is not in the document`;
  const place = '$ref' in told ? ['components', 'responses', status] : [...route.place, 'responses', status];
  const response = '$ref' in told ? openApi.components.responses[status] : told;
  const [mediaType = ''] = answer.type.split(';');
  if (!response?.content[mediaType]) return `${method} ${url}: ${status} as ${mediaType} is not in the document`;
  const flaw = flawAt([...place, 'content', mediaType, 'schema'], answer.body);
  return flaw === null ? null : `${method} ${url}: ${status}: ${flaw}`;
}
