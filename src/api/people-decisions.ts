import type { DataSource } from 'typeorm';
import { writeAudit } from '../audit/write-audit.ts';
import { inTransaction } from '../database/in-transaction.ts';
import type { Lane } from '../dispatch/claim-operations.ts';
import { pastContention } from '../dispatch/past-contention.ts';
import { resumeProvider } from '../dispatch/provider-stops.ts';
import { scrubAddresses } from '../mail/scrub-addresses.ts';
import type { OutboxLimits } from '../messaging/outbox/append-to-outbox.ts';
import type { EventWriter } from '../messaging/outbox/produced-event.ts';
import { parseRfc3339 } from '../messaging/rfc3339.ts';
import {
  LONGEST_WAIT_DAYS,
  resolveUnknowns,
  type DecidedOperation,
  type Decision,
  type DecisionOutcome,
} from '../operations/unknowns/resolve-unknowns.ts';
import { invalidRequest } from './problem.ts';
import { readProviderStops } from './read-provider-stops.ts';
import type { Caller } from './tenant-token.guard.ts';

export interface Said {
  readonly as: Decision['as'];
  readonly reason: string;
  readonly until?: string | undefined;
}

/** What people decide by HTTP. Every decision has a reason and leaves a row in the audit. */
export class PeopleDecisions {
  readonly #dataSource: DataSource;
  readonly #events: EventWriter;
  readonly #limits: OutboxLimits;
  readonly #lanes: readonly Lane[];

  constructor(dataSource: DataSource, events: EventWriter, limits: OutboxLimits, lanes: readonly Lane[]) {
    this.#dataSource = dataSource;
    this.#events = events;
    this.#limits = limits;
    this.#lanes = lanes;
  }

  /** One outcome for each operation, by index. @throws ProblemException 400 when `until` is not ahead, or too far */
  async resolve(
    caller: Caller,
    said: Said,
    operations: readonly DecidedOperation[],
  ): Promise<readonly DecisionOutcome[]> {
    const { as, reason, until } = said;
    const decision = { ...caller, as, reason, until: until === undefined ? null : parseRfc3339(until) };
    const decided = await pastContention(() =>
      resolveUnknowns(this.#dataSource, this.#events, this.#limits, decision, operations),
    );
    switch (decided.kind) {
      case 'decided':
        return decided.outcomes;
      case 'until-past':
        throw invalidRequest([{ field: 'until', rule: 'must be in the future' }]);
      case 'until-too-far':
        throw invalidRequest([{ field: 'until', rule: `must be at most ${LONGEST_WAIT_DAYS} days ahead` }]);
    }
  }

  /** Lets a provider of this tenant go on. Says whether it had stopped; if not, nothing is written. */
  async resume({ tenantId, actor }: Caller, provider: string, reason: string): Promise<boolean> {
    const [stop] = await readProviderStops(this.#dataSource, [provider]);
    if (!stop) return false;
    const { since, code } = stop;
    const entry = {
      tenantId,
      actor,
      action: 'provider.resume' as const,
      object: `provider:${provider}`,
      reason: scrubAddresses(reason, [], 1000),
      before: { stoppedSince: since.toISOString(), code },
      after: { stopped: false },
    };
    return await inTransaction(this.#dataSource, 'resume-by-person', async (tx) => {
      const resumed = await resumeProvider(tx, this.#events, this.#limits, this.#lanes, provider);
      if (resumed) await writeAudit(tx, [entry]);
      return resumed;
    });
  }
}
