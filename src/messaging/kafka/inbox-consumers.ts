import type { Logger } from '../../observability/logger.ts';
import { backoffMs } from '../../runtime/backoff.ts';
import { errorCode } from '../../runtime/service-error.ts';
import type { HandlerRegistry } from '../inbox/consumed-event.ts';
import { ConsumerSupervisor, type ConsumerStatus, type ConsumerSupervisorSettings } from './consumer-supervisor.ts';
import type { ConsumerGroup } from './kafka-consumer.strategy.ts';
import type { TopicsChecked } from './kafka-admin.ts';
import type { ChunkHandler } from './record-chunk.ts';

export interface InboxConsumersSettings {
  /** One supervisor each; the handler is made when the handlers of all types are known. */
  readonly consumers: readonly (Omit<ConsumerSupervisorSettings, 'handler'> & {
    readonly handlerFrom: (handlers: HandlerRegistry) => ChunkHandler;
  })[];
  /**
   * Creates or checks the topics; called until nothing stands against the start: a consumer of a missing topic could only fail, and
   * one of a topic that outlives the inbox could not keep its word.
   */
  readonly ensureTopics: () => Promise<TopicsChecked>;
  readonly stopTimeoutMs: number;
  readonly logger: Logger;
}

const RETRY = { baseMs: 250, capMs: 10_000 };

/** All consumers of the process, one per topic, once the topics are there. */
export class InboxConsumers implements ConsumerGroup {
  #supervisors: ConsumerSupervisor[] = [];
  #stopping = false;
  #cutWait: () => void = () => undefined;

  constructor(private readonly settings: InboxConsumersSettings) {}

  start(handlers: HandlerRegistry): void {
    void this.#startWhenTopicsAreThere(handlers);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cutWait();
    const { stopTimeoutMs } = this.settings;
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.stop({ timeoutMs: stopTimeoutMs })));
  }

  /** Empty until the topics have been checked. */
  statuses(): ConsumerStatus[] {
    return this.#supervisors.map((supervisor) => supervisor.status());
  }

  async #startWhenTopicsAreThere(handlers: HandlerRegistry): Promise<void> {
    for (let failures = 1; !this.#stopping; failures++) {
      if (await this.#topicsAreThere()) break;
      await this.#wait(backoffMs(failures, RETRY));
    }
    if (this.#stopping) return;
    this.#supervisors = this.settings.consumers.map(
      ({ handlerFrom, ...settings }) => new ConsumerSupervisor({ ...settings, handler: handlerFrom(handlers) }),
    );
    for (const supervisor of this.#supervisors) supervisor.start();
  }

  async #topicsAreThere(): Promise<boolean> {
    const { ensureTopics, logger } = this.settings;
    try {
      const { created, problems } = await ensureTopics();
      if (created.length > 0) logger.info('kafka.topics-created', { topics: created });
      for (const problem of problems) logger.error('kafka.topic-problem', { ...problem });
      return problems.every(({ problem }) => problem === 'fewer-partitions');
    } catch (error) {
      logger.warn('kafka.topics-not-checked', { code: errorCode(error) });
      return false;
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#cutWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
