/** Names and values of the environment; an empty value counts as not set, as Docker Compose passes `${X:-}`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The only place of the service that reads process.env; everything else gets the validated configuration. */
export function readEnvironment(): Environment {
  return Object.freeze({ ...process.env });
}

export function environmentValue(env: Environment, name: string): string | undefined {
  // hasOwn: `constructor` is no variable.
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === '' ? undefined : value;
}
