import type { DataSource } from 'typeorm';
import type { OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import type { Logger } from '../observability/logger.ts';
import type { BackoffOptions } from '../runtime/backoff.ts';
import type { Lane, Rate } from './claim-operations.ts';
import type { Composer } from './compose.ts';
import type { ProviderLane } from './provider-lane.ts';
import type { ProviderStops } from './provider-stops.ts';
import type { Canaries } from './resolve/canaries.ts';

/** What the road needs of the process that it runs in. */
export interface DispatchPlace {
  readonly dataSource: DataSource;
  readonly events: EventWriter;
  readonly composer: Composer;
  readonly lanes: readonly Lane[];
  readonly providers: ReadonlyMap<string, ProviderLane>;
  readonly stops: ProviderStops;
  readonly canaries: Canaries;
  readonly logger: Logger;
  /** Called when an operation is done and there may be room to claim. */
  readonly wake: () => void;
}

export interface DispatchSettings {
  readonly leaseSeconds: number;
  /** Hard limit of one call, per provider; much shorter than the lease. */
  readonly callTimeoutMs: ReadonlyMap<string, number>;
  readonly rates: ReadonlyMap<string, Rate>;
  readonly outbox: OutboxLimits;
  /** Times that a provider may ask to wait before an operation is dead. */
  readonly maxThrottles: number;
  readonly retry?: BackoffOptions;
}
