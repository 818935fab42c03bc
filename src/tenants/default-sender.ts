import type { TenantConfig } from '../config/einmal-config.ts';

/** The first of the tenant's senders that is an address and not a whole domain. */
export function defaultSender(tenant: Pick<TenantConfig, 'senders'>): string | undefined {
  return tenant.senders.find((sender) => sender.includes('@'));
}
