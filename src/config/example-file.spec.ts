import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { z } from 'zod';
import { environmentSchema } from './environment.schema.ts';
import { loadConfig } from './load-config.ts';
import { providerSchema } from './provider.schema.ts';
import { type SectionName, sectionSchemas } from './sections.schema.ts';
import { tenantSchema } from './tenant.schema.ts';

const text = readFileSync(new URL('../../einmal.example.yaml', import.meta.url), 'utf8');
const raw = parse(text) as Record<string, Record<string, unknown>>;
const env = { DATABASE_URL: 'postgres://localhost/einmal', KAFKA_BROKERS: 'localhost:9092' };

/** What the example sets otherwise than the default, and says so. */
const OTHERWISE = { 'dispatch.leaseSeconds': 90, 'provider.timeoutSeconds': 60, 'provider.security': 'starttls' };

const keysOf = (schema: { readonly shape: Readonly<Record<string, unknown>> }) => Object.keys(schema.shape).toSorted();

/** Each key with a default in the schema: its value in the example, and the default. */
function comparedWithDefaults(
  shape: Readonly<Record<string, z.ZodType>>,
  given: Record<string, unknown>,
  prefix: string,
) {
  return Object.entries(shape).flatMap(([key, schema]) => {
    const fallback = schema.safeParse(undefined);
    return fallback.success ? [{ path: `${prefix}.${key}`, value: given[key], fallback: fallback.data }] : [];
  });
}

describe('einmal.example.yaml', () => {
  const loaded = loadConfig({ env, readFile: () => text });
  const tenant = raw['tenants']?.['demo'] as Record<string, unknown>;
  const provider = raw['providers']?.['main'] as Record<string, unknown>;

  it('is right as it stands', () => {
    expect(loaded).toMatchObject({ ok: true });
  });

  it('shows every key there is', () => {
    expect(Object.keys(raw).toSorted()).toEqual([...Object.keys(sectionSchemas), 'tenants', 'providers'].toSorted());
    for (const [name, schema] of Object.entries(sectionSchemas)) {
      expect(Object.keys(raw[name] ?? {}).toSorted()).toEqual(keysOf(schema));
    }
    expect(Object.keys(tenant).toSorted()).toEqual(keysOf(tenantSchema));
    expect(Object.keys(provider).toSorted()).toEqual(keysOf(providerSchema));
  });

  it('sets the defaults, or names them where it sets something else', () => {
    const sections = Object.entries(sectionSchemas).flatMap(([name, { shape }]) =>
      comparedWithDefaults(shape, raw[name as SectionName] ?? {}, name),
    );
    const others = [...sections, ...comparedWithDefaults(providerSchema.shape, provider, 'provider')].filter(
      ({ value, fallback }) => value !== fallback,
    );
    expect(Object.fromEntries(others.map(({ path, fallback }) => [path, fallback]))).toEqual(OTHERWISE);
    for (const fallback of Object.values(OTHERWISE)) expect(text).toContain(`Default ${fallback}`);
  });

  it('names every variable of the environment that operators set', () => {
    const inner = new Set(['EINMAL_FAULT', 'NODE_ENV']);
    const missing = Object.keys(environmentSchema.shape).filter((name) => !inner.has(name) && !text.includes(name));
    expect(missing).toEqual([]);
  });

  it('lets a demo put its sink elsewhere', () => {
    const moved = loadConfig({ env: { ...env, SMTP_HOST: 'sink', SMTP_PORT: '1025' }, readFile: () => text });
    expect(moved).toMatchObject({ ok: true, config: { providers: { main: { host: 'sink', port: 1025 } } } });
  });
});
