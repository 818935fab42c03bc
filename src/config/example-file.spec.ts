import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { z } from 'zod';
import { environmentSchema } from './environment.schema.ts';
import { loadConfig } from './load-config.ts';
import { isProviderKind, PROVIDER_KINDS, type ProviderKind, providerSchemas } from './provider.schema.ts';
import { type SectionName, sectionSchemas } from './sections.schema.ts';
import { tenantSchema } from './tenant.schema.ts';

const text = readFileSync(new URL('../../einmal.example.yaml', import.meta.url), 'utf8');
const raw = parse(text) as Record<string, Record<string, unknown>>;
const env = { DATABASE_URL: 'postgres://localhost/einmal', KAFKA_BROKERS: 'localhost:9092' };

/** What the example sets otherwise than the default, and says so. */
const OTHERWISE = { 'dispatch.leaseSeconds': 90, 'main.timeoutSeconds': 60, 'main.security': 'starttls' };

/** The blocks of the other kinds, made ready to read. They begin with their name, two blanks behind the sign. */
const uncommented = text.replaceAll(/^ {2}# (via-[a-z]+|tickets|peer):\n(?: {2}# {2}.*\n)+/gm, (block) =>
  block.replaceAll(/^ {2}# /gm, '  '),
);
const allProviders = (parse(uncommented) as typeof raw)['providers'] as Record<string, Record<string, unknown>>;

/** What the example of a kind sets that has another default. */
const SHOWN: Partial<Record<ProviderKind, readonly string[]>> = {
  smtp: ['timeoutSeconds', 'security'],
  http: ['auth', 'key', 'effectId', 'lookup'],
};

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
  const providers = raw['providers'] as Record<string, Record<string, unknown>>;

  it('is right as it stands', () => {
    expect(loaded).toMatchObject({ ok: true });
  });

  it('shows every key there is', () => {
    expect(Object.keys(raw).toSorted()).toEqual([...Object.keys(sectionSchemas), 'tenants', 'providers'].toSorted());
    for (const [name, schema] of Object.entries(sectionSchemas)) {
      expect(Object.keys(raw[name] ?? {}).toSorted()).toEqual(keysOf(schema));
    }
    expect(Object.keys(tenant).toSorted()).toEqual(keysOf(tenantSchema));
  });

  it('sets the defaults, or names them where it sets something else', () => {
    const sections = Object.entries(sectionSchemas).flatMap(([name, { shape }]) =>
      comparedWithDefaults(shape, raw[name as SectionName] ?? {}, name),
    );
    const main = comparedWithDefaults(providerSchemas.smtp.shape, providers['main'] ?? {}, 'main');
    const others = [...sections, ...main].filter(({ value, fallback }) => value !== fallback);
    expect(Object.fromEntries(others.map(({ path, fallback }) => [path, fallback]))).toEqual(OTHERWISE);
    for (const fallback of Object.values(OTHERWISE)) expect(text).toContain(`Default ${fallback}`);
  });

  it('shows each kind of provider with every key, and the defaults of them', () => {
    const kinds = Object.values(allProviders).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(PROVIDER_KINDS));
    for (const [name, given] of Object.entries(allProviders)) {
      const { kind } = given;
      if (!isProviderKind(kind)) throw new Error(name);
      const shape: Readonly<Record<string, z.ZodType>> = providerSchemas[kind].shape;
      expect([name, Object.keys(given).toSorted()]).toEqual([name, Object.keys(shape).toSorted()]);
      const shown = comparedWithDefaults(shape, given, name)
        .filter(({ value, fallback }) => !isDeepStrictEqual(value, fallback))
        .map(({ path }) => path.slice(name.length + 1));
      expect([name, shown.toSorted()]).toEqual([name, (SHOWN[kind] ?? []).toSorted()]);
    }
  });

  it('is right with all kinds of provider in it', () => {
    const secrets = [...uncommented.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => [name, 'a-secret'] as const);
    const all = loadConfig({
      env: { ...env, ...Object.fromEntries(secrets), SMTP_PORT: '25' },
      readFile: () => uncommented.replace('leaseSeconds: 20', 'leaseSeconds: 90'),
    });
    expect(all.ok ? [] : all.errors).toEqual([]);
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
