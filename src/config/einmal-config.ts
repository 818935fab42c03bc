import type { z } from 'zod';
import type { Fault } from '../runtime/fault.ts';
import type { LogLevel } from '../observability/logger.ts';
import type { EnvironmentValues, Role } from './environment.schema.ts';
import type { ProviderKind, ProviderSettings } from './provider.schema.ts';
import type { SectionName, sectionSchemas } from './sections.schema.ts';
import type { tenantSchema } from './tenant.schema.ts';

export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

type Section<N extends SectionName> = DeepReadonly<z.output<(typeof sectionSchemas)[N]>>;

export type DispatchConfig = Section<'dispatch'>;
export type MessagingConfig = Section<'messaging'>;
export type OutboxConfig = Section<'outbox'>;
export type RetentionConfig = Section<'retention'>;
export type CampaignsConfig = Section<'campaigns'>;

/** `providers` holds every provider that the tenant may use, the default one first. */
export type TenantConfig = DeepReadonly<{ id: string } & z.output<typeof tenantSchema>>;
export type TokenConfig = TenantConfig['tokens'][number];
export type ProviderConfig = DeepReadonly<{ providerName: string } & ProviderSettings>;
export type ProviderConfigOf<K extends ProviderKind> = Extract<ProviderConfig, { readonly kind: K }>;

export interface SaslConfig {
  readonly mechanism: NonNullable<EnvironmentValues['KAFKA_SASL_MECHANISM']>;
  readonly username: string;
  readonly password: string;
}

/** Everything the service is told from outside; deep-frozen. */
export interface EinmalConfig {
  readonly process: {
    readonly roles: readonly Role[];
    /** 0: any free port. */
    readonly port: number;
    readonly logLevel: LogLevel;
    readonly shutdownSeconds: number;
    /** Empty unless NODE_ENV is test. */
    readonly faults: readonly Fault[];
  };
  readonly database: { readonly url: string; readonly poolSize: number };
  readonly kafka: {
    readonly brokers: readonly string[];
    readonly topicPrefix: string;
    readonly ssl: boolean;
    readonly sasl: SaslConfig | null;
  };
  /** By tenant id. No prototype: `tenants['constructor']` is undefined. */
  readonly tenants: Readonly<Record<string, TenantConfig>>;
  /** By provider name. No prototype. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly dispatch: DispatchConfig;
  readonly messaging: MessagingConfig;
  readonly outbox: OutboxConfig;
  readonly retention: RetentionConfig;
  readonly campaigns: CampaignsConfig;
}
