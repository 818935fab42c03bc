import type { ProviderConfig } from '../../src/config/einmal-config.ts';
import { isProviderKind, providerSchemas } from '../../src/config/provider.schema.ts';

/** A provider's part of einmal.yaml. */
export type RawConfig = Readonly<Record<string, unknown>> & { readonly kind: string };

/** Through the schema that the service reads its file by, so that defaults and units are those of the service. */
export function providerConfig(raw: RawConfig): ProviderConfig {
  const { kind } = raw;
  if (!isProviderKind(kind)) throw new Error(`no kind of provider: ${kind}`);
  return { providerName: `${kind}-under-test`, ...providerSchemas[kind].parse(raw) };
}
