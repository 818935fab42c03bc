import { contradiction, type FoundError } from './config-error.ts';
import type { ProviderConfig, ProviderConfigOf } from './einmal-config.ts';
import type { FileParts } from './file-parts.ts';
import { notPublic } from './provider-kinds/base-url.ts';

/**
 * What a claim's lease must leave beside the longest provider call: the commit of the intent before it and of the result
 * after it, each within the database's statement timeout.
 */
export const LEASE_MARGIN_SECONDS = 15;

/** Rules over more than one key of a provider. */
export function providerContradictions(provider: ProviderConfig, parts: FileParts): FoundError[] {
  return [...leaseTooShort(provider, parts), ...ofKind(provider, parts)];
}

export function takesMails(provider: ProviderConfig): boolean {
  return provider.kind !== 'http' || provider.mail !== null;
}

function ofKind(provider: ProviderConfig, parts: FileParts): FoundError[] {
  switch (provider.kind) {
    case 'smtp':
      return openPassword(provider);
    case 'kafka':
      return [];
    case 'http':
      return [
        ...privateUrl(provider),
        ...marginOfWindow(provider.providerName, 'key', provider.key),
        ...repeatedHeaders(provider),
      ];
    case 'mailjet':
      return [...privateUrl(provider), ...marginOfWindow(provider.providerName, 'deduplicate', provider.deduplicate)];
    case 'postmark':
    case 'resend':
      return [...privateUrl(provider), ...batchNeverFull(provider, parts)];
    case 'ses':
    case 'sendgrid':
    case 'mailgun':
    case 'brevo':
    case 'sparkpost':
    case 'mailersend':
      return privateUrl(provider);
  }
}

function leaseTooShort({ providerName, timeoutSeconds }: ProviderConfig, { sections }: FileParts): FoundError[] {
  if (sections.dispatch === undefined) return [];
  if (sections.dispatch.leaseSeconds >= timeoutSeconds + LEASE_MARGIN_SECONDS) return [];
  const message = `must be at least ${LEASE_MARGIN_SECONDS} less than dispatch.leaseSeconds`;
  return [contradiction(['providers', providerName, 'timeoutSeconds'], message)];
}

/** No more is ever claimed ahead than that. */
function batchNeverFull(
  { providerName, batchSize }: ProviderConfigOf<'postmark' | 'resend'>,
  { sections }: FileParts,
): FoundError[] {
  if (sections.dispatch === undefined || batchSize <= sections.dispatch.claimBatchMax) return [];
  return [contradiction(['providers', providerName, 'batchSize'], 'must not be more than dispatch.claimBatchMax')];
}

function openPassword({ providerName, auth, security, host }: ProviderConfigOf<'smtp'>): FoundError[] {
  const local = ['localhost', '127.0.0.1', '::1'].includes(host);
  if (auth === null || security !== 'none' || local) return [];
  const message = 'must not be none with auth: the password would travel readable';
  return [contradiction(['providers', providerName, 'security'], message)];
}

function privateUrl(provider: {
  readonly providerName: string;
  readonly baseUrl: string | null;
  readonly allowPrivate: boolean;
}): FoundError[] {
  const wrong = provider.allowPrivate || provider.baseUrl === null ? null : notPublic(provider.baseUrl);
  return wrong === null ? [] : [contradiction(['providers', provider.providerName, 'baseUrl'], wrong)];
}

function marginOfWindow(
  name: string,
  key: string,
  value: { readonly windowSeconds: number; readonly marginSeconds: number } | null,
): FoundError[] {
  if (value === null || value.marginSeconds < value.windowSeconds) return [];
  return [contradiction(['providers', name, key, 'marginSeconds'], 'must be less than windowSeconds')];
}

/** Two places that set one header: which of them counts would be chance. */
function repeatedHeaders({ providerName, headers, key, auth }: ProviderConfigOf<'http'>): FoundError[] {
  const fixed = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const authHeader = auth !== null && 'header' in auth ? auth.header.name.toLowerCase() : null;
  const keyHeader = key?.header.toLowerCase() ?? null;
  const errors: FoundError[] = [];
  if (keyHeader !== null && (fixed.has(keyHeader) || keyHeader === authHeader)) {
    errors.push(contradiction(['providers', providerName, 'key', 'header'], 'is set by headers or auth too'));
  }
  if (authHeader !== null && fixed.has(authHeader)) {
    errors.push(contradiction(['providers', providerName, 'auth', 'header', 'name'], 'is set by headers too'));
  }
  return errors;
}
