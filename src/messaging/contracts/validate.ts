import type { z } from 'zod';

import { nearestName } from '../../config/nearest-name.ts';
import type { Contract } from './contract.ts';
import { jsonSchemaOf, memberNames } from './json-schema.ts';

/** A rule that a member breaks. Neither text holds a value of the data: those may be addresses. */
export interface Problem {
  /** E.g. `audience.lists[3]`; empty for the data as a whole. */
  readonly path: string;
  readonly rule: string;
}

export type Validation<Data> =
  { readonly ok: true; readonly data: Data } | { readonly ok: false; readonly problems: readonly Problem[] };

/** More would only make a dead letter long. */
const MAX_PROBLEMS = 10;

/** Names of members come from the peer too; only what looks like a name of a contract is repeated. */
const PRINTABLE_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,39}$/;

const namesByType = new Map<string, readonly string[]>();

/** Checks data against a contract. Unknown members are refused: a misspelt optional member would otherwise be lost unseen. */
export function validate<Data>(contract: Contract<string, Data>, data: unknown): Validation<Data> {
  const result = contract.schema.safeParse(data, { reportInput: true });
  if (result.success) {
    return { ok: true, data: result.data };
  }
  const problems = result.error.issues.slice(0, MAX_PROBLEMS).flatMap((issue) => problemsOf(contract, issue));
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
}

/** One sentence for a log or a dead letter. */
export function problemsInWords(problems: readonly Problem[]): string {
  return problems.map(({ path, rule }) => (path === '' ? rule : `${path}: ${rule}`)).join('; ');
}

function problemsOf(contract: Contract, issue: z.core.$ZodIssue): readonly Problem[] {
  const path = pathOf(issue.path);
  return issue.code === 'unrecognized_keys'
    ? issue.keys.slice(0, MAX_PROBLEMS).map((name) => ({ path, rule: unknownMember(contract, name) }))
    : [{ path, rule: ruleOf(issue) }];
}

function ruleOf(issue: z.core.$ZodIssue): string {
  return issue.input === undefined ? 'is required' : brokenRule(issue);
}

function brokenRule(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be of type ${issue.expected}`;
    case 'too_big':
      return `must be at most ${boundOf(issue.origin, issue.maximum)}`;
    case 'too_small':
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${boundOf(issue.origin, issue.minimum)}`;
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return unionRule(issue);
    case 'invalid_key':
      return 'has a member with a name that is not allowed';
    case 'invalid_format':
    case 'custom':
      // The texts of the contracts: fixed, without values.
      return issue.message;
    case 'invalid_element':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      break;
  }
  return 'is not as the contract says';
}

/** A union told apart by a member reports the member, with the whole object as its input. */
function unionRule(issue: z.core.$ZodIssueInvalidUnion): string {
  const options = 'options' in issue && issue.options !== undefined ? issue.options.map(String) : [];
  const name = issue.discriminator;
  if (name !== undefined && !Object.hasOwn(issue.input as object, name)) {
    return 'is required';
  }
  return options.length > 0 ? `must be ${options.join(', ')}` : 'has none of the allowed forms';
}

function boundOf(origin: string, bound: number | bigint): string {
  switch (origin) {
    case 'string':
      return `${bound} characters long`;
    case 'array':
      return `${bound} entries long`;
    default:
      return String(bound);
  }
}

function unknownMember(contract: Contract, name: string): string {
  if (!PRINTABLE_NAME.test(name)) {
    return 'has an unknown member, whose name is not repeated here';
  }
  const nearest = nearestName(name, namesOf(contract));
  return `unknown member ${name}${nearest === null ? '' : `; did you mean ${nearest}?`}`;
}

function namesOf(contract: Contract): readonly string[] {
  const known = namesByType.get(contract.type) ?? [...memberNames(jsonSchemaOf(contract))];
  namesByType.set(contract.type, known);
  return known;
}

function pathOf(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    text += typeof step === 'number' ? `[${step}]` : `${text === '' ? '' : '.'}${printable(String(step))}`;
  }
  return text;
}

function printable(name: string): string {
  return PRINTABLE_NAME.test(name) ? name : '*';
}
