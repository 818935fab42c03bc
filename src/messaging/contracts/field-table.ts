import type { JsonSchema } from './json-schema.ts';

/** One row for each member at any depth, in the order of the contract. */
export function fieldTable(schema: JsonSchema): string {
  const rows = rowsOf(schema, '');
  return ['| member | type | required | rule | meaning |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

function rowsOf(schema: JsonSchema, prefix: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${prefix}${name}`;
    const required = schema.required?.includes(name) === true ? 'yes' : '';
    const row = `| \`${path}\` | ${typeOf(member)} | ${required} | ${rulesOf(member)} | ${cell(member.description ?? '')} |`;
    return [row, ...rowsOf(member, `${path}.`), ...rowsOf(member.items ?? {}, `${path}[].`)];
  });
}

function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined || schema.enum !== undefined) {
    return 'string';
  }
  if (schema.type === 'array') {
    return `list of ${typeOf(schema.items ?? {})}`;
  }
  const alternatives = schema.anyOf?.map((part) => typeOf(part));
  return alternatives === undefined ? (schema.type ?? 'any JSON') : [...new Set(alternatives)].join(' or ');
}

function rulesOf(schema: JsonSchema): string {
  const rules = [
    schema.const === undefined ? '' : word(schema.const),
    schema.enum === undefined ? '' : schema.enum.map((each) => word(each)).join(', '),
    schema.format === 'date-time' ? 'RFC 3339 with offset' : lengthOf(schema),
    rangeOf(schema),
    schema.minItems === undefined ? '' : `at least ${schema.minItems} entries`,
    schema.maxItems === undefined ? '' : `at most ${schema.maxItems} entries`,
    schema.maxProperties === undefined ? '' : `at most ${schema.maxProperties} members`,
    schema.pattern === undefined || schema.pattern.startsWith('^[^') ? '' : `\`${cell(schema.pattern)}\``,
  ];
  return rules.filter((rule) => rule !== '').join('; ');
}

function lengthOf(schema: JsonSchema): string {
  if (schema.maxLength === undefined) {
    return '';
  }
  return `${schema.minLength ?? 0} to ${schema.maxLength} characters`;
}

function rangeOf(schema: JsonSchema): string {
  if (schema.exclusiveMinimum !== undefined) {
    return `more than ${schema.exclusiveMinimum}, at most ${schema.maximum ?? 'any'}`;
  }
  if (schema.minimum === undefined) {
    return '';
  }
  const open = schema.maximum === undefined || schema.maximum === Number.MAX_SAFE_INTEGER;
  return open ? `${schema.minimum} or more` : `${schema.minimum} to ${schema.maximum}`;
}

function word(value: unknown): string {
  return typeof value === 'string' ? `\`${value}\`` : `\`${JSON.stringify(value)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
