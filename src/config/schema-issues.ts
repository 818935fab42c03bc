import type { z } from 'zod';
import type { ConfigPath, FoundError } from './config-error.ts';

type Issue = z.core.$ZodIssue;

/** zod's issues in the words of this service. `input` is what was parsed and `at` is where that stands in the file. */
export function errorsOfIssues(issues: readonly Issue[], input: unknown, at: ConfigPath): FoundError[] {
  return issues.flatMap((issue) => {
    const inside = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
    const path = [...at, ...inside];
    // The message of this issue is made by unknownKeyHints(): a nearest name or an empty line for each key.
    if (issue.code === 'unrecognized_keys') return unknownKeys(path, issue.keys, issue.message.split('\n'));
    return [valueAt(input, inside) === undefined ? required(path) : { path, ...explain(issue) }];
  });
}

export function required(path: ConfigPath): FoundError {
  return { path, rule: 'required', message: 'is required' };
}

function unknownKeys(path: ConfigPath, keys: readonly string[], hints: readonly string[]): FoundError[] {
  return keys.map((key, index) => unknownKey([...path, key], hints[index] ?? ''));
}

export function unknownKey(path: ConfigPath, nearest: string | null): FoundError {
  return { path, rule: 'unknown-key', message: 'is not known', nearest: nearest === '' ? null : nearest };
}

function explain(issue: Issue): Pick<FoundError, 'rule' | 'message'> {
  if (issue.code === 'invalid_type') {
    return { rule: 'wrong-type', message: `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}` };
  }
  if (issue.code === 'invalid_value') {
    return { rule: 'out-of-range', message: `must be ${oneOf(issue.values.map(String))}` };
  }
  if (issue.code === 'too_small') {
    const words = issue.inclusive === false ? 'more than' : 'at least';
    return { rule: 'out-of-range', message: `must ${bound(words, issue.minimum, issue.origin)}` };
  }
  if (issue.code === 'too_big') {
    return { rule: 'out-of-range', message: `must ${bound('at most', issue.maximum, issue.origin)}` };
  }
  // Formats and own checks: the schema gives the sentence.
  return { rule: 'wrong-form', message: issue.message };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
};

function bound(words: string, limit: number | bigint, origin: string): string {
  if (origin === 'string') return `have ${words} ${limit} characters`;
  if (origin === 'array') return `have ${words} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  return `be ${words} ${limit}`;
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
}

function valueAt(input: unknown, path: ConfigPath): unknown {
  let value = input;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
