import type { EinmalConfig } from '../config/einmal-config.ts';
import { createSmtpProvider } from '../providers/smtp/smtp.provider.ts';
import type { Lane, Rate } from './claim-operations.ts';
import { ProviderLane } from './provider-lane.ts';

/** Every tenant with every provider that it may use. */
export function claimLanes({ tenants }: Pick<EinmalConfig, 'tenants'>): Lane[] {
  return Object.entries(tenants).flatMap(([tenantId, tenant]) =>
    tenant.providers.map((provider) => ({ tenantId, provider })),
  );
}

/** One pool of connections per provider, shared by the tenants that use it. */
export function providerLanes({ providers, dispatch }: EinmalConfig): Map<string, ProviderLane> {
  const settings = {
    claimBatch: dispatch.claimBatch,
    claimBatchMax: dispatch.claimBatchMax,
    accountPauseMs: dispatch.accountPauseSeconds * 1000,
  };
  return new Map(
    Object.entries(providers).map(
      ([name, { host, port, security, auth, connections, timeoutSeconds, name: ehloName }]) => {
        const provider = createSmtpProvider({
          name,
          host,
          port,
          security,
          connections,
          timeoutMs: timeoutSeconds * 1000,
          ...(auth === null ? {} : { auth }),
          ...(ehloName === null ? {} : { ehloName }),
        });
        return [name, new ProviderLane(provider, settings)];
      },
    ),
  );
}

export function ratesOf({ providers }: Pick<EinmalConfig, 'providers'>): Map<string, Rate> {
  return new Map(Object.entries(providers).flatMap(([name, { rate }]) => (rate ? [[name, rate] as const] : [])));
}

export function timeoutsOf({ providers }: Pick<EinmalConfig, 'providers'>): Map<string, number> {
  return new Map(Object.entries(providers).map(([name, { timeoutSeconds }]) => [name, timeoutSeconds * 1000]));
}
