import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { JsonSchema } from '../../src/messaging/contracts/json-schema.ts';

/** JSON Schema as the documents write it, with the few words that only some schemas have. */
interface AnySchema extends JsonSchema {
  readonly allOf?: readonly AnySchema[];
  readonly contentEncoding?: string;
  readonly propertyNames?: AnySchema;
}

const LETTERS = fc.string({
  unit: fc.constantFrom(...Array.from('abcdefghijkmnpqrstuvwxyz0123456789')),
  minLength: 1,
  maxLength: 12,
});
/** Also what is not ASCII, and what programs trip over. */
const WORDS = fc.oneof(
  LETTERS,
  fc.constantFrom(
    'Ünïcödé',
    '名前',
    '😀 ok',
    "O'Brien; DROP TABLE x",
    '{{ x }}',
    '%s%n',
    '<script>',
    '..',
    'null',
    '__proto__',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text)),
);
const ADDRESS = LETTERS.map((name) => `${name}@example.com`);
const FUTURE = fc
  .date({ min: new Date('2030-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const PATH = LETTERS.map((name) => `/${name}`);

/** By the name of a member: rules that the schema has no form for, or that few random values would keep. */
const BY_NAME: Readonly<Record<string, Arbitrary<unknown>>> = {
  email: ADDRESS,
  to: ADDRESS,
  from: fc.constantFrom('Shop <shop@example.org>', 'news@einmal.example', 'someone@elsewhere.example'),
  replyTo: ADDRESS,
  subject: WORDS,
  html: WORDS.map((text) => `<p>${text}</p>`),
  text: WORDS,
  path: PATH,
  endpoint: fc.constantFrom('crm', 'nobody'),
  provider: fc.constantFrom('main', 'nobody'),
  scope: fc.oneof(
    fc.constantFrom('all', 'marketing'),
    LETTERS.map((name) => `list:${name}`),
  ),
  locale: fc.constantFrom('de', 'de-CH', 'en-GB'),
  contentType: fc.constantFrom('text/plain', 'application/pdf; x=1'),
  headers: fc.dictionary(
    LETTERS.map((name) => `X-${name}`),
    WORDS,
    { maxKeys: 3 },
  ),
  attributes: fc.dictionary(WORDS, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
  data: fc.dictionary(LETTERS, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
  lists: fc.array(LETTERS, { minLength: 1, maxLength: 5 }),
  where: fc.dictionary(LETTERS, fc.oneof(WORDS, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 3 }),
  object: fc.oneof(
    LETTERS.map((name) => `campaign:${name}`),
    WORDS,
  ),
};

/** Values that a schema allows, mostly: rules between members are none of its business. */
export function arbitraryOf(schema: AnySchema): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return fc.oneof(...options.map((option) => arbitraryOf(option)));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: Math.max(schema.minimum ?? -1000, -1000), max: Math.min(schema.maximum ?? 1000, 1000) });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0.01, max: Math.min(schema.maximum ?? 1000, 1000), noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      });
    case 'object':
      return objectOf(schema);
    case undefined:
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function objectOf(schema: AnySchema): Arbitrary<unknown> {
  const { properties, required = [] } = schema;
  if (!properties) return fc.dictionary(LETTERS, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [
      name,
      Object.hasOwn(BY_NAME, name) && part.type !== 'boolean'
        ? (BY_NAME[name] ?? arbitraryOf(part))
        : arbitraryOf(part),
    ]),
  );
  return fc
    .record(model, { requiredKeys: required.filter((name) => Object.hasOwn(model, name)) })
    .map((value) => ({ ...value }));
}

function textOf({ format, pattern, allOf, contentEncoding, minLength = 0 }: AnySchema): Arbitrary<string> {
  if (format === 'date-time') return FUTURE;
  if (contentEncoding === 'base64') return fc.base64String({ maxLength: 40 });
  const patterns = [pattern, ...(allOf ?? []).map((part) => part.pattern)].filter((each) => each !== undefined);
  const keeps = (text: string): boolean => patterns.every((each) => new RegExp(each, 'u').test(text));
  const simple = patterns.find((each) => !each.includes(String.raw`\p{`));
  if (simple === undefined) return WORDS.filter(keeps);
  if (minLength > 0 && simple === '@') return ADDRESS;
  return fc.stringMatching(new RegExp(simple)).filter(keeps);
}
