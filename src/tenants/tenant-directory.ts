import type { EinmalConfig, TenantConfig } from '../config/einmal-config.ts';

/** The configured tenants, by id. */
export class TenantDirectory {
  readonly #tenants: ReadonlyMap<string, TenantConfig>;

  constructor(config: Pick<EinmalConfig, 'tenants'>) {
    this.#tenants = new Map(Object.entries(config.tenants));
  }

  has(tenantId: string): boolean {
    return this.#tenants.has(tenantId);
  }

  get(tenantId: string): TenantConfig | undefined {
    return this.#tenants.get(tenantId);
  }

  ids(): string[] {
    return [...this.#tenants.keys()];
  }
}
