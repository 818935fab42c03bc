import { z } from 'zod';
import { type Fault, parseFaults } from '../runtime/fault.ts';
import { LOG_LEVELS } from '../observability/logger.ts';

export const ROLES = ['api', 'consumer', 'relay', 'dispatcher', 'maintenance'] as const;
/** A part of the service's work; one process may have several. */
export type Role = (typeof ROLES)[number];

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** Kafka's limit is 249 characters for the whole topic name. */
const TOPIC_PREFIX = /^[a-zA-Z0-9._-]{1,100}$/;
const BROKER = /^(?:[^\s:,/@[\]]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/;

const digits = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** An empty list is no list: `,` or blanks only. */
const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const roles = z.string().transform((text, context): readonly Role[] => {
  const known = new Set<string>(ROLES);
  const given = [...new Set(list(text))];
  if (given.length > 0 && given.every((name): name is Role => known.has(name))) return given;
  context.addIssue({ code: 'custom', message: `must be a comma list of ${ROLES.join(', ')}` });
  return z.NEVER;
});

const brokers = z.string().transform((text, context): readonly string[] => {
  const given = list(text);
  if (given.length > 0 && given.every((broker) => isPort(BROKER.exec(broker)?.[1]))) return given;
  context.addIssue({ code: 'custom', message: 'must be a comma list of host:port' });
  return z.NEVER;
});

const faults = z.string().transform((text, context): readonly Fault[] => {
  const parsed = parseFaults(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', message: 'must be point:action[:nth], action exit, kill, hang or throw' });
  return z.NEVER;
});

const postgresUrl = z.string().refine(isPostgresUrl, 'must be a URL like postgres://user:password@host:5432/database');

/** Every variable that the service reads itself; `${NAME}` in the file may name any other. */
export const environmentSchema = z.object({
  DATABASE_URL: postgresUrl,
  DATABASE_POOL_SIZE: digits(1, 1000).default(20),
  KAFKA_BROKERS: brokers,
  KAFKA_SSL: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
  KAFKA_SASL_MECHANISM: z.enum(SASL_MECHANISMS).optional(),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  EINMAL_CONFIG: z.string().default('einmal.yaml'),
  EINMAL_ROLES: roles.default([...ROLES]),
  EINMAL_TOPIC_PREFIX: z
    .string()
    .regex(TOPIC_PREFIX, 'must be 1 to 100 of a-z, A-Z, 0-9, ".", "_" and "-"')
    .default('einmal.'),
  EINMAL_SHUTDOWN_SECONDS: digits(1, 3600).default(30),
  EINMAL_FAULT: faults.default([]),
  PORT: digits(0, 65_535).default(8080),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
  NODE_ENV: z.string().optional(),
});

export type EnvironmentValues = z.output<typeof environmentSchema>;

function isPort(text: string | undefined): boolean {
  return text !== undefined && Number(text) >= 1 && Number(text) <= 65_535;
}

function isPostgresUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && ['postgres:', 'postgresql:'].includes(url.protocol) && url.pathname.length > 1;
}
