import type { Logger } from '../observability/logger.ts';
import { errorCode } from './service-error.ts';
import type { ProcessPart } from './process-part.ts';

export interface LifecycleSettings {
  readonly workers: readonly ProcessPart[];
  /** Stopped after the workers, since it carries on what they leave. */
  readonly last: readonly ProcessPart[];
  readonly consumers: { stop(): Promise<void> } | null;
  /** Called first of all: readiness turns red. */
  readonly onStopping: () => void;
  readonly closeConnections: () => Promise<void>;
  /** From the signal to the end of the process, whatever hangs. */
  readonly shutdownMs: number;
  readonly logger: Logger;
}

/**
 * Start and end of the process. On SIGTERM or SIGINT: not ready, nothing new taken, what is in hand finished or given back,
 * results published, connections closed. All of it within the bound; then the process ends, finished or not.
 */
export class ProcessLifecycle {
  #stopping = false;

  constructor(private readonly settings: LifecycleSettings) {}

  async start(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void this.stop(signal));
    for (const part of [...this.settings.last, ...this.settings.workers]) await part.start();
  }

  async stop(why: string): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const { logger, onStopping, shutdownMs, closeConnections } = this.settings;
    logger.info('service.stopping', { why });
    const bound = setTimeout(() => {
      logger.error('service.stop-timed-out', { shutdownMs });
      process.exit(1);
    }, shutdownMs);
    onStopping();
    try {
      await this.#stopParts();
      await closeConnections();
    } catch (error) {
      logger.error('service.stop-failed', { code: errorCode(error), error });
    }
    clearTimeout(bound);
    logger.info('service.stopped');
    process.exit(0);
  }

  async #stopParts(): Promise<void> {
    const { workers, last, consumers, shutdownMs } = this.settings;
    // Together less than the bound: what is left is for closing the connections.
    const partMs = shutdownMs / 2;
    await Promise.all([consumers?.stop(), ...workers.map((part) => part.stop(partMs))]);
    await Promise.all(last.map((part) => part.stop(partMs / 2)));
  }
}
