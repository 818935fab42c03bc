import type { EinmalConfig } from '../config/einmal-config.ts';
import { createProvider } from '../providers/create-provider.ts';
import type { Lane, Rate } from './claim-operations.ts';
import { ProviderLane } from './provider-lane.ts';
import type { PublishDelivery } from './publish-delivery.ts';

/** Every tenant with every provider that it may use. */
export function claimLanes({ tenants }: Pick<EinmalConfig, 'tenants'>): Lane[] {
  return Object.entries(tenants).flatMap(([tenantId, tenant]) =>
    tenant.providers.map((provider) => ({ tenantId, provider })),
  );
}

/** One lane per provider, shared by the tenants that use it. */
export function providerLanes(
  { providers, dispatch }: EinmalConfig,
  publishDelivery: PublishDelivery,
): Map<string, ProviderLane> {
  const { claimBatch, claimBatchMax } = dispatch;
  return new Map(
    Object.entries(providers).map(([name, config]) => {
      const provider = createProvider(config, { publishDelivery: async (mail) => await publishDelivery(name, mail) });
      return [name, new ProviderLane(provider, { claimBatch, claimBatchMax })];
    }),
  );
}

export function ratesOf({ providers }: Pick<EinmalConfig, 'providers'>): Map<string, Rate> {
  return new Map(Object.entries(providers).flatMap(([name, { rate }]) => (rate ? [[name, rate] as const] : [])));
}

export function timeoutsOf({ providers }: Pick<EinmalConfig, 'providers'>): Map<string, number> {
  return new Map(Object.entries(providers).map(([name, { timeoutSeconds }]) => [name, timeoutSeconds * 1000]));
}
