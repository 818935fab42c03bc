import type { z } from 'zod';
import type { ConfigError, ConfigPath, FoundError } from './config-error.ts';
import { formatPath } from './config-error.ts';
import { contradictions } from './contradictions.ts';
import type { ProviderConfig, TenantConfig } from './einmal-config.ts';
import type { Environment } from './env.ts';
import type { FileParts, Sections } from './file-parts.ts';
import { fillVariables } from './fill-variables.ts';
import { nearestName } from './nearest-name.ts';
import { isProviderKind, PROVIDER_KINDS, providerSchemas, type ProviderSettings } from './provider.schema.ts';
import { readYaml } from './read-yaml.ts';
import { errorsOfIssues, required, unknownKey } from './schema-issues.ts';
import { NAME_FORM, NAME_RULE } from './schema-parts.ts';
import { type SectionName, sectionSchemas } from './sections.schema.ts';
import { tenantSchema } from './tenant.schema.ts';

const SECTION_NAMES = Object.keys(sectionSchemas) as SectionName[];
const TOP_KEYS: readonly string[] = ['tenants', 'providers', ...SECTION_NAMES];

type Found = (...errors: FoundError[]) => void;

/** einmal.yaml's text as parts and all its errors. Only without any error are the parts whole. */
export function readConfigFile(text: string, env: Environment): { parts: FileParts; errors: readonly ConfigError[] } {
  const yaml = readYaml(text);
  const errors: ConfigError[] = yaml.errors.map((error) => ({ source: 'file', path: '', nearest: null, ...error }));
  const found: FoundError[] = [];
  const parts = readParts(yaml.value === undefined ? {} : yaml.value, env, (...more) => found.push(...more));
  // Without a value there is nothing to look at: only the errors of the YAML itself mean something.
  if (yaml.value === undefined && errors.length > 0) return { parts, errors };
  for (const { path, rule, message, nearest = null } of found) {
    errors.push({ source: 'file', path: formatPath(path), rule, message, nearest, line: yaml.lineOf(path) });
  }
  return { parts, errors };
}

function readParts(value: unknown, env: Environment, found: Found): FileParts {
  const { filled, errors: fillErrors } = fillVariables(value, env);
  found(...fillErrors);
  // What the schema says about a text that could not be filled is noise.
  const unfilled = new Set(fillErrors.map(({ path }) => formatPath(path)));
  const report: Found = (...errors) => found(...errors.filter(({ path }) => !unfilled.has(formatPath(path))));

  const top = isMap(filled) ? filled : {};
  if (!isMap(filled) && filled !== null) report({ path: [], rule: 'wrong-type', message: 'must be a map of keys' });
  for (const key of Object.keys(top)) {
    if (!TOP_KEYS.includes(key)) report(unknownKey([key], nearestName(key, TOP_KEYS)));
  }
  const providerEntries = namedEntries(top, 'providers', report);
  const parts: FileParts = {
    tenants: readTenants(namedEntries(top, 'tenants', report), report),
    providers: readProviders(providerEntries, report),
    providerNames: providerEntries.map(([name]) => name),
    sections: readSections(top, report),
  };
  report(...contradictions(parts));
  return parts;
}

function readTenants(entries: readonly (readonly [string, unknown])[], report: Found): Map<string, TenantConfig> {
  const tenants = new Map<string, TenantConfig>();
  for (const [id, value] of entries) {
    const tenant = check(tenantSchema, value, ['tenants', id], report);
    if (tenant === undefined) continue;
    tenants.set(id, { id, ...tenant, providers: [...new Set([tenant.provider, ...tenant.providers])] });
  }
  return tenants;
}

function readProviders(entries: readonly (readonly [string, unknown])[], report: Found): Map<string, ProviderConfig> {
  const providers = new Map<string, ProviderConfig>();
  for (const [name, value] of entries) {
    const provider = readProvider(value, ['providers', name], report);
    if (provider !== undefined) providers.set(name, { providerName: name, ...provider });
  }
  return providers;
}

/** The kind says which keys there are: without a right one, nothing can be said about the others. */
function readProvider(value: unknown, path: ConfigPath, report: Found): ProviderSettings | undefined {
  if (!isMap(value)) {
    report({ path, rule: 'wrong-type', message: 'must be a map of keys' });
    return undefined;
  }
  const kind = Object.hasOwn(value, 'kind') ? value['kind'] : undefined;
  if (isProviderKind(kind)) return check<ProviderSettings>(providerSchemas[kind], value, path, report);
  const at = [...path, 'kind'];
  const message = `must be one of ${PROVIDER_KINDS.join(', ')}`;
  if (kind === undefined) report(required(at));
  else if (typeof kind !== 'string') report({ path: at, rule: 'wrong-type', message });
  else report({ path: at, rule: 'out-of-range', message, nearest: nearestName(kind, PROVIDER_KINDS) });
  return undefined;
}

function readSections(top: Readonly<Record<string, unknown>>, report: Found): Sections {
  const sections: Partial<Record<SectionName, unknown>> = {};
  for (const name of SECTION_NAMES) {
    // A key whose lines are all commented out is null in YAML: the same as not there.
    sections[name] = check<unknown>(sectionSchemas[name], top[name] ?? {}, [name], report);
  }
  return sections as Sections;
}

/** The members of `tenants` or `providers`: at least one, each under a proper name. */
function namedEntries(top: Readonly<Record<string, unknown>>, key: string, report: Found): [string, unknown][] {
  const value = top[key] ?? null;
  if (value === null) report(required([key]));
  else if (!isMap(value)) report({ path: [key], rule: 'wrong-type', message: 'must be a map of keys' });
  if (!isMap(value)) return [];
  const entries = Object.entries(value);
  if (entries.length === 0) report({ path: [key], rule: 'out-of-range', message: 'must have at least 1 entry' });
  for (const [name] of entries) {
    if (!NAME_FORM.test(name))
      report({ path: [key, name], rule: 'wrong-form', message: `has a name that is not right: it ${NAME_RULE}` });
  }
  return entries;
}

function check<T>(schema: z.ZodType<T>, value: unknown, path: ConfigPath, report: Found): T | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  report(...errorsOfIssues(parsed.error.issues, value, path));
  return undefined;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
