import type { TenantConfig } from '../config/einmal-config.ts';
import type { ParsedAddress } from '../mail/address.ts';

/** Whether `from` is one of the tenant's senders: the address itself, or any address of a domain that is listed. */
export function senderIsAllowed(tenant: Pick<TenantConfig, 'senders'>, from: ParsedAddress): boolean {
  const domain = from.key.slice(from.key.lastIndexOf('@') + 1);
  return tenant.senders.some((sender) => {
    const lower = sender.toLowerCase();
    return lower.includes('@') ? lower === from.key : lower === domain;
  });
}
