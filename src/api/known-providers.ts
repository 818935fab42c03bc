import type { EinmalConfig } from '../config/einmal-config.ts';
import { timeoutsOf } from '../dispatch/lanes-of-config.ts';
import type { PlannedProvider } from '../dispatch/resolve/plan-resolution.ts';
import { createProvider } from '../providers/create-provider.ts';
import type { CallOutcome } from '../providers/provider.port.ts';

/** What is known of a provider without asking it. */
export interface KnownProvider extends PlannedProvider {
  readonly kind: EinmalConfig['providers'][string]['kind'];
}

/** The configured providers by name, for processes that call none of them. */
export class KnownProviders {
  readonly #byName: ReadonlyMap<string, KnownProvider>;

  constructor(byName: ReadonlyMap<string, KnownProvider>) {
    this.#byName = byName;
  }

  get(name: string): KnownProvider | undefined {
    return this.#byName.get(name);
  }
}

/** A provider that is made opens no connection; only what it says of itself is kept. */
export function knownProviders(config: EinmalConfig): ReadonlyMap<string, KnownProvider> {
  const timeouts = timeoutsOf(config);
  return new Map(
    Object.entries(config.providers).map(([name, settings]) => {
      const { abilities, account } = createProvider(settings, { publishDelivery: nothingIsCalledHere });
      return [name, { kind: settings.kind, abilities, account, callTimeoutMs: timeouts.get(name) ?? 0 }];
    }),
  );
}

async function nothingIsCalledHere(): Promise<CallOutcome> {
  return await Promise.resolve({ kind: 'not-sent', code: 'no-dispatcher', diagnostic: 'this process calls nobody' });
}
