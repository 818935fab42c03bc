import { deadlineIn } from '../../runtime/monotonic.ts';
import { isMembershipError, isMembershipLost } from './kafka-errors.ts';

export interface HeartbeatWatchOptions {
  /** Sends a heartbeat when one is due; rejects with kafkajs' own error. */
  readonly heartbeat: () => Promise<void>;
  readonly intervalMs: number;
  readonly deadlineMs: number;
  /** The group has gone on without us. */
  readonly onLost: () => void;
  readonly onOverdue: () => void;
}

export interface HeartbeatWatch {
  /** The membership error that a heartbeat brought, to be handed to kafkajs once the chunk is settled; a loss outranks a rebalance. */
  membershipError(): Error | null;
  stop(): void;
}

/**
 * Keeps this member in its group while a handler works, and no longer than the deadline: a timer that never ends would hide a
 * handler that is stuck. A rebalance in progress is no reason to stop: the broker waits for the chunk in hand.
 */
export function watchHeartbeats(options: HeartbeatWatchOptions): HeartbeatWatch {
  const deadline = deadlineIn(options.deadlineMs);
  let membershipError: Error | null = null;

  function onHeartbeatFailed(error: unknown): void {
    // A broken connection is met again, and handled, by kafkajs' own next request.
    if (!isMembershipError(error)) return;
    if (!isMembershipLost(error)) {
      membershipError ??= error;
      return;
    }
    membershipError = error;
    clearInterval(timer);
    options.onLost();
  }

  function tick(): void {
    if (deadline.expired()) {
      clearInterval(timer);
      options.onOverdue();
      return;
    }
    options.heartbeat().catch(onHeartbeatFailed);
  }

  // kafkajs sends nothing before its own interval is over; asking more often keeps a late tick from costing a whole interval.
  const timer = setInterval(tick, Math.min(options.intervalMs / 3, options.deadlineMs));
  return { membershipError: () => membershipError, stop: () => clearInterval(timer) };
}
