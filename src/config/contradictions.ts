import { contradiction, type FoundError } from './config-error.ts';
import type { TenantConfig } from './einmal-config.ts';
import type { FileParts } from './file-parts.ts';
import { nearestName } from './nearest-name.ts';
import { providerContradictions, takesMails } from './provider-contradictions.ts';

/** Rules over more than one key, checked on all parts that are right by themselves. */
export function contradictions(parts: FileParts): FoundError[] {
  return [
    ...[...parts.tenants.values()].flatMap((tenant) => [
      ...unknownProviders(tenant, parts.providerNames),
      ...defaultWithoutMails(tenant, parts),
      ...tenantRetention(tenant, parts),
      ...repeatedTokenNames(tenant),
    ]),
    ...sharedTokens([...parts.tenants.values()]),
    ...[...parts.providers.values()].flatMap((provider) => providerContradictions(provider, parts)),
    ...orderedPairs(parts),
  ];
}

function unknownProviders(tenant: TenantConfig, names: readonly string[]): FoundError[] {
  return tenant.providers
    .filter((name) => !names.includes(name))
    .map((name) => {
      const key = name === tenant.provider ? 'provider' : 'providers';
      return contradiction(['tenants', tenant.id, key], 'names no provider of this file', nearestName(name, names));
    });
}

/** Messages that name no provider are mails. */
function defaultWithoutMails({ id, provider: name }: TenantConfig, { providers }: FileParts): FoundError[] {
  const provider = providers.get(name);
  if (provider === undefined || takesMails(provider)) return [];
  const message = 'must name a provider that takes mails: one of kind http needs its key mail';
  return [contradiction(['tenants', id, 'provider'], message)];
}

function tenantRetention(
  { id, keyRetentionDays, payloadRetentionDays }: TenantConfig,
  { sections }: FileParts,
): FoundError[] {
  const errors: FoundError[] = [];
  if (payloadRetentionDays > keyRetentionDays) {
    errors.push(contradiction(['tenants', id, 'payloadRetentionDays'], 'must not be more than keyRetentionDays'));
  }
  // Else a record that Kafka delivers again could find its operation forgotten and run it a second time.
  if (sections.messaging !== undefined && keyRetentionDays < sections.messaging.inboxRetentionDays) {
    const message = 'must not be less than messaging.inboxRetentionDays';
    errors.push(contradiction(['tenants', id, 'keyRetentionDays'], message));
  }
  return errors;
}

function repeatedTokenNames({ id, tokens }: TenantConfig): FoundError[] {
  return tokens.flatMap(({ name }, index) =>
    tokens.findIndex((other) => other.name === name) < index
      ? [contradiction(['tenants', id, 'tokens', index, 'name'], 'is the name of another token of this tenant')]
      : [],
  );
}

/** A token says whose request it is, so it can belong to one tenant only. */
function sharedTokens(tenants: readonly TenantConfig[]): FoundError[] {
  const owners = new Map<string, string>();
  return tenants.flatMap(({ id, tokens }) =>
    tokens.flatMap(({ sha256 }, index) => {
      const owner = owners.get(sha256);
      owners.set(sha256, owner ?? `tenants.${id}.tokens[${index}]`);
      const path = ['tenants', id, 'tokens', index, 'sha256'];
      return owner === undefined ? [] : [contradiction(path, `is the same token as ${owner}`)];
    }),
  );
}

function orderedPairs({ sections: { dispatch, messaging, outbox } }: FileParts): FoundError[] {
  return [
    ...notAbove('dispatch', dispatch, 'claimBatch', 'claimBatchMax'),
    ...notAbove('dispatch', dispatch, 'retryBaseSeconds', 'retryCapSeconds'),
    ...notAbove('dispatch', dispatch, 'pollMinMs', 'pollMaxMs'),
    ...notAbove('outbox', outbox, 'pollMinMs', 'pollMaxMs'),
    // What Kafka still holds, the inbox must still know.
    ...notAbove('messaging', messaging, 'topicRetentionDays', 'inboxRetentionDays'),
    ...notAbove('messaging', messaging, 'sessionTimeoutSeconds', 'rebalanceTimeoutSeconds'),
  ];
}

function notAbove<K extends string>(
  section: string,
  values: Readonly<Record<K, number>> | undefined,
  low: K,
  high: K,
): FoundError[] {
  if (values === undefined || values[low] <= values[high]) return [];
  return [contradiction([section, low], `must not be more than ${section}.${high}`)];
}
