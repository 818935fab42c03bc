import { type EnvironmentValues, environmentSchema } from './environment.schema.ts';
import { type Environment, environmentValue } from './env.ts';
import type { FoundError } from './config-error.ts';
import { nearestName } from './nearest-name.ts';
import { errorsOfIssues, required, unknownKey } from './schema-issues.ts';

export const VARIABLES: readonly string[] = Object.keys(environmentSchema.shape);
const OWN_PREFIX = 'EINMAL_';

export interface ReadEnvironment {
  /** null when a variable is wrong. */
  readonly values: EnvironmentValues | null;
  readonly errors: readonly FoundError[];
}

export function readEnvironmentValues(env: Environment): ReadEnvironment {
  const given: Record<string, string> = {};
  for (const name of VARIABLES) {
    const value = environmentValue(env, name);
    if (value !== undefined) given[name] = value;
  }
  const parsed = environmentSchema.safeParse(given);
  const errors = [
    ...(parsed.success ? [] : errorsOfIssues(parsed.error.issues, given, [])),
    ...saslErrors(given),
    ...faultErrors(given),
    ...unknownVariables(env),
  ];
  return { values: parsed.success && errors.length === 0 ? parsed.data : null, errors };
}

/** Half of a login is a mistake that a broker answers late and unclearly. */
function saslErrors(given: Readonly<Record<string, string>>): FoundError[] {
  const names = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'];
  const missing = names.filter((name) => given[name] === undefined);
  return missing.length === names.length ? [] : missing.map((name) => required([name]));
}

function faultErrors(given: Readonly<Record<string, string>>): FoundError[] {
  if (given['EINMAL_FAULT'] === undefined || given['NODE_ENV'] === 'test') return [];
  return [{ path: ['EINMAL_FAULT'], rule: 'contradiction', message: 'is for tests only, with NODE_ENV=test' }];
}

/** Read by commands, and no mistake where the service finds them. */
const OF_COMMANDS = ['EINMAL_URL', 'EINMAL_TOKEN'];

function unknownVariables(env: Environment): FoundError[] {
  const known = [...VARIABLES.filter((name) => name.startsWith(OWN_PREFIX)), ...OF_COMMANDS];
  return Object.keys(env)
    .filter((name) => name.startsWith(OWN_PREFIX) && !known.includes(name) && environmentValue(env, name) !== undefined)
    .map((name) => unknownKey([name], nearestName(name.slice(OWN_PREFIX.length), known.map(withoutPrefix))))
    .map((error) => ({ ...error, nearest: error.nearest ? `${OWN_PREFIX}${error.nearest}` : null }));
}

function withoutPrefix(name: string): string {
  return name.slice(OWN_PREFIX.length);
}
