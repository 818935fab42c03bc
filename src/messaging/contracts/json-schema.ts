import { z } from 'zod';

import type { Contract } from './contract.ts';

/** The part of JSON Schema (draft 2020-12) that the contracts use. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/**
 * The data of a type as JSON Schema, for documents and for peers in other languages. Rules between members and sizes in
 * bytes have no form there and are only in the validation.
 */
export function jsonSchemaOf(contract: Contract): JsonSchema {
  const schema = z.toJSONSchema(contract.schema, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' });
  return { ...(schema as JsonSchema), title: contract.type, description: contract.description };
}

/** The names of all members at any depth, for suggestions. */
export function memberNames(schema: JsonSchema): ReadonlySet<string> {
  const names = new Set<string>(Object.keys(schema.properties ?? {}));
  for (const part of partsOf(schema)) {
    for (const name of memberNames(part)) {
      names.add(name);
    }
  }
  return names;
}

function partsOf(schema: JsonSchema): readonly JsonSchema[] {
  return [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
}
