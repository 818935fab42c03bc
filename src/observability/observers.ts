import type { Metrics } from './metrics.ts';

/** The counters of the pipelines. They are told after a commit, so that a repeated transaction counts once. */
export function createObservers(metrics: Metrics, wakeRelay: () => void) {
  return {
    inbox: {
      settled(
        consumer: string,
        counts: { fresh: number; duplicates: number; dead: readonly string[]; appended: number },
      ): void {
        metrics.recordsConsumed.inc({ consumer, outcome: 'fresh' }, counts.fresh);
        metrics.recordsConsumed.inc({ consumer, outcome: 'duplicate' }, counts.duplicates);
        for (const reason of counts.dead) {
          metrics.recordsConsumed.inc({ consumer, outcome: reason === 'identity-conflict' ? 'conflict' : 'dead' });
          metrics.deadLetters.inc({ consumer, reason });
        }
        metrics.batchSize.observe({ of: 'inbox' }, counts.fresh + counts.duplicates + counts.dead.length);
        if (counts.appended > 0) wakeRelay();
      },
    },
    relay: {
      published(rows: readonly { readonly topic: string; readonly suppressed: string | null }[]): void {
        const byTopic = new Map<string, number>();
        for (const { topic } of rows) byTopic.set(topic, (byTopic.get(topic) ?? 0) + 1);
        for (const [topic, count] of byTopic) metrics.outboxPublished.inc({ topic }, count);
        metrics.batchSize.observe({ of: 'outbox' }, rows.length);
        metrics.suppressed.inc({ where: 'outbox' }, rows.filter(({ suppressed }) => suppressed !== null).length);
      },
    },
    dispatch: {
      claimed(operations: number): void {
        metrics.batchSize.observe({ of: 'claim' }, operations);
      },
      called(provider: string, result: { readonly kind: OutcomeKind }, seconds: number): void {
        metrics.attempts.inc({ provider, outcome: result.kind });
        metrics.callSeconds.observe({ provider, outcome: result.kind }, seconds);
      },
      recorded(result: { readonly kind: OutcomeKind }): void {
        if (LEAVES_OPEN.has(result.kind)) metrics.unknown.inc({ cause: 'ambiguous' });
        wakeRelay();
      },
      notCalled(why: string): void {
        if (why === 'suppressed') metrics.suppressed.inc({ where: 'intent' });
      },
      rescued(_queued: number, unknown: number): void {
        metrics.unknown.inc({ cause: 'lease-expired' }, unknown);
      },
      claimLost(step: 'commit-intents' | 'record' | 'resolve'): void {
        metrics.claimLosses.inc({ step });
      },
      resolved(provider: string, step: string, state: string): void {
        metrics.resolutionSteps.inc({ provider, step, state });
        wakeRelay();
      },
    },
  };
}

type OutcomeKind =
  | 'accepted'
  | 'not-sent'
  | 'throttled'
  | 'rejected'
  | 'suppressed'
  | 'account'
  | 'ambiguous'
  | 'duplicate'
  | 'concurrent'
  | 'key-mismatch';
const LEAVES_OPEN: ReadonlySet<OutcomeKind> = new Set(['ambiguous', 'duplicate', 'concurrent', 'key-mismatch']);
