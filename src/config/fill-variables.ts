import { type Environment, environmentValue } from './env.ts';
import type { ConfigPath, FoundError } from './config-error.ts';

const MAX_DEPTH = 32;
/** `$${` stays as `${`; `${NAME}`; `${NAME:-text}`; anything else after `${` is a mistake. */
const PLACEHOLDER = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\})?/g;

/**
 * A copy of parsed YAML with `${NAME}` in its texts filled from the environment; `${NAME:-text}` gives a text for when the
 * variable is not set or empty. Keys are left alone. Missing variables are errors at their path; values are never shown.
 */
export function fillVariables(value: unknown, env: Environment): { filled: unknown; errors: FoundError[] } {
  const errors: FoundError[] = [];
  return { filled: fill(value, [], env, errors), errors };
}

function fill(value: unknown, path: ConfigPath, env: Environment, errors: FoundError[]): unknown {
  if (typeof value === 'string') return fillText(value, path, env, errors);
  if (typeof value !== 'object' || value === null) return value;
  // Also ends the circle that a YAML alias to its own parent makes.
  if (path.length >= MAX_DEPTH) {
    errors.push({ path: path.slice(0, 4), rule: 'too-large', message: `is nested deeper than ${MAX_DEPTH} levels` });
    return null;
  }
  if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index], env, errors));
  const entries = Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key], env, errors)] as const);
  // fromEntries defines members, so a key `__proto__` stays a key.
  return Object.fromEntries(entries);
}

function fillText(text: string, path: ConfigPath, env: Environment, errors: FoundError[]): string {
  return text.replaceAll(PLACEHOLDER, (match, name: string | undefined, fallback: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) {
      errors.push({
        path,
        rule: 'wrong-form',
        message: 'has a "${" that is not ${NAME} or ${NAME:-text}; write $${ for the text itself',
      });
      return match;
    }
    const value = environmentValue(env, name) ?? fallback;
    if (value === undefined) {
      errors.push({
        path,
        rule: 'missing-variable',
        message: `needs the environment variable ${name}, which is not set`,
      });
    }
    return value ?? match;
  });
}
