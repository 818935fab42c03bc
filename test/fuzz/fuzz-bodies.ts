import { sample } from 'fast-check';
import { ROUTES, type RouteDoc } from '../../src/api/openapi/route-docs.ts';
import { operationBody } from '../../src/api/openapi/operation-body.ts';
import { contractOf, validate } from '../../src/messaging/contracts/registry.ts';
import type { JsonSchema } from '../../src/messaging/contracts/json-schema.ts';
import { seededDraws, type Draws } from '../journeys/seeded.ts';
import { answerFlaw, flawAt, openApi } from '../support/openapi-judge.ts';
import { DEMO_TOKEN } from '../support/world.ts';
import { FuzzCounter, type FuzzPart } from './fuzz-report.ts';
import { bytesOf, mutate, type Mutated } from './mutations.ts';
import { arbitraryOf } from './schema-arbitrary.ts';

export interface BodiesPlan {
  readonly url: string;
  readonly count: number;
  readonly seed: number;
  /** Operation keys of the ledger, among those asked about. */
  keysIn(keys: readonly string[]): Promise<ReadonlySet<string>>;
}

interface BodyCase {
  readonly route: RouteDoc;
  readonly url: string;
  readonly name: string;
  readonly bytes: Buffer;
  readonly expect: 'take' | 'refuse' | 'either';
  /** The key that is asked for, when it is one operation. */
  readonly key: string | null;
  readonly isMember: boolean;
}

const TOGETHER = 16;
const HANGS_AFTER_MS = 15_000;
/** Refusals that a good body may meet, since what it speaks of is not there or is otherwise. */
const DOMAIN = new Set([404, 409, 422]);

/** Bodies for every route that takes one: good ones, and each mutated. */
export async function fuzzBodies(plan: BodiesPlan): Promise<FuzzPart> {
  const counter = new FuzzCounter();
  const asked = { taken: new Set<string>(), refused: new Set<string>() };
  const cases = casesOf(plan);
  const workers = Array.from({ length: TOGETHER }, async () => {
    for (let each = cases.next(); !each.done; each = cases.next()) await tryCase(plan.url, each.value, counter, asked);
  });
  await Promise.all(workers);
  await judgeEffects(plan, counter, asked);
  return counter.part();
}

function* casesOf({ count, seed }: BodiesPlan): Generator<BodyCase, void> {
  const draws = seededDraws(seed);
  const routes = ROUTES.filter(({ body }) => body !== undefined);
  const pools = new Map(
    routes.map((route) => [route, goodBodies(route, Math.ceil(count / routes.length / 2) + 1, seed)]),
  );
  for (let nth = 0; nth < count; nth += 1) {
    const route = routes[nth % routes.length];
    const good = route && pools.get(route)?.[Math.floor(nth / routes.length / 2)];
    if (!route || good === undefined) throw new Error('too few good bodies');
    // A good one, and then the same mutated.
    const isGood = Math.floor(nth / routes.length) % 2 === 0;
    yield caseOf(route, withOwnKey(route, good, `fuzz-${seed}-${nth}`), nth, isGood, draws);
  }
}

function caseOf(route: RouteDoc, value: object, nth: number, isGood: boolean, draws: Draws): BodyCase {
  const url = route.path.replace('{key}', `nobody-${nth}`).replace('{name}', 'main');
  const common = { route, url, key: keyOf(route, value) };
  if (isGood)
    return {
      ...common,
      name: `${nth}: good ${route.operationId}`,
      bytes: bytesOf(value),
      expect: 'take',
      isMember: false,
    };
  const mutated = mutate(value, draws);
  return {
    ...common,
    name: `${nth}: ${route.operationId} ${mutated.name}`,
    bytes: mutated.bytes,
    expect: mutated.expect === 'refuse' || schemaFlaw(route, mutated) ? 'refuse' : 'either',
    isMember: mutated.expect === 'by-schema',
  };
}

function schemaFlaw(route: RouteDoc, { value }: Mutated): boolean {
  const place = ['paths', route.path, route.method, 'requestBody', 'content', 'application/json', 'schema'];
  return flawAt(place, value) !== null;
}

/** By the schema of the document, and by the rules that have no form there. */
function goodBodies(route: RouteDoc, count: number, seed: number): object[] {
  const { body } = route;
  if (!body) return [];
  const isOperation = 'operation' in body;
  const schema = isOperation ? operationBody() : (bodySchema(route) as JsonSchema);
  const isGood = (value: unknown): value is object =>
    typeof value === 'object' &&
    value !== null &&
    (isOperation ? areOperations(value) : body.schema.safeParse(value).success);
  const good = sample(arbitraryOf(schema).filter(isGood), { seed: seed + route.operationId.length, numRuns: count });
  return good.map((value) => structuredClone<object>(Object(value)));
}

function bodySchema({ path, method }: RouteDoc): object {
  return openApi.paths[path]?.[method]?.requestBody?.content['application/json']?.schema ?? {};
}

const contract = contractOf('einmal.operation.requested.v1');

function areOperations(value: object): boolean {
  if ('operations' in value)
    return Array.isArray(value.operations) && value.operations.every((each) => validate(contract, each).ok);
  return validate(contract, { operationKey: 'x', ...value }).ok;
}

/** Keys that no other case has, so that what becomes of it can be seen. */
function withOwnKey(route: RouteDoc, value: object, key: string): object {
  if (!route.body || !('operation' in route.body)) return structuredClone(value);
  if (!('operations' in value) || !Array.isArray(value.operations)) return { ...value, operationKey: key };
  return { operations: value.operations.map((each: object, index) => ({ ...each, operationKey: `${key}-${index}` })) };
}

function keyOf(route: RouteDoc, value: object): string | null {
  const isOne = route.body && 'operation' in route.body && 'operationKey' in value;
  return isOne ? String(value.operationKey) : null;
}

interface Asked {
  readonly taken: Set<string>;
  readonly refused: Set<string>;
}

async function tryCase(base: string, each: BodyCase, counter: FuzzCounter, asked: Asked): Promise<void> {
  counter.done += 1;
  const answer = await answerOf(`${base}${each.url}`, each.bytes);
  if (typeof answer === 'string') {
    counter.fail(each.name, answer);
    return;
  }
  const { status, body } = answer;
  const flaw = answerFlaw(each.route.method, each.url, answer);
  if (flaw !== null) counter.fail(each.name, flaw);
  if (status >= 500) counter.fail(each.name, `status ${status}`);
  const isTaken = status < 300 || DOMAIN.has(status);
  if (each.expect === 'take' && !isTaken)
    counter.fail(each.name, `a good body was refused: ${JSON.stringify(body).slice(0, 300)}`);
  if (each.expect === 'refuse' && isTaken && !hasInvalidItem(body))
    counter.fail(each.name, `a bad body was taken: ${status}`);
  if (status === 400) judgeProblem(each, body, counter);
  if (each.key !== null) (status === 202 ? asked.taken : status === 400 ? asked.refused : new Set()).add(each.key);
  counter.count(`${isTaken ? 'taken' : 'refused'}, expected: ${each.expect}`);
}

/** Of many operations the bad ones are refused one by one. */
function hasInvalidItem(body: Readonly<Record<string, unknown>>): boolean {
  const { items } = body;
  return Array.isArray(items) && items.some((item: { outcome?: unknown }) => item.outcome === 'invalid');
}

interface BodyAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

async function answerOf(url: string, bytes: Buffer): Promise<BodyAnswer | string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${DEMO_TOKEN}`, 'content-type': 'application/json' },
      body: new Uint8Array(bytes),
      signal: AbortSignal.timeout(HANGS_AFTER_MS),
    });
    const type = response.headers.get('content-type') ?? '';
    return { status: response.status, type, body: (await response.json()) as BodyAnswer['body'] };
  } catch (error) {
    return `no answer: ${error instanceof Error ? error.name : 'unknown'}`;
  }
}

/** Field and rule; the field is empty where it is the text itself, or the object as a whole, that is wrong. */
function judgeProblem(each: BodyCase, body: Readonly<Record<string, unknown>>, counter: FuzzCounter): void {
  const errors = body['errors'] as readonly { field?: unknown; rule?: unknown }[] | undefined;
  if (!errors?.length) {
    counter.fail(each.name, 'the problem names no field and rule');
    return;
  }
  for (const { field, rule } of errors) {
    const names = typeof field === 'string' && typeof rule === 'string' && rule !== '';
    const isOfWhole = field === '' && /member|must have|must be|is/.test(String(rule));
    if (!names || (each.isMember && field === '' && !isOfWhole))
      counter.fail(each.name, `names ${JSON.stringify({ field, rule })}`);
  }
  if (JSON.stringify(errors).includes('eve@example.com')) counter.fail(each.name, 'the problem repeats a value');
}

/** What was taken is in the ledger, and what was refused is not. */
async function judgeEffects(plan: BodiesPlan, counter: FuzzCounter, { taken, refused }: Asked): Promise<void> {
  const there = await plan.keysIn([...taken, ...refused]);
  for (const key of taken) if (!there.has(key)) counter.fail(key, 'was taken and is not in the ledger');
  for (const key of refused) if (there.has(key)) counter.fail(key, 'was refused and is in the ledger');
  counter.count(`keys looked for: ${taken.size + refused.size}`);
}
