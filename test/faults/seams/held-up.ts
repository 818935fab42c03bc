import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { pollUntil } from '../../support/stack/poll-until.ts';

const PATIENCE_MS = 60_000;
/** Looks that must see the very same; else it may be a transaction that is only between two statements. */
const SAME_LOOKS = 5;

/**
 * Whether this work waits for what somebody holds in a transaction that does not go on; false when it is done. The work must be
 * awaited again after the other has let go.
 */
export async function isHeldUp(rig: DispatchRig, work: Promise<unknown>): Promise<boolean> {
  let done = false;
  let seen = '';
  let same = 0;
  const end = work.finally(() => (done = true));
  end.catch(() => undefined);
  const held = await pollUntil(
    async () => {
      if (done) return false;
      const now = JSON.stringify(await rig.query(WAITING));
      same = now === seen && now !== '[]' ? same + 1 : 0;
      seen = now;
      return same === SAME_LOOKS ? true : null;
    },
    { deadlineMs: PATIENCE_MS, everyMs: 5 },
  );
  if (held === null) throw new Error('somebody neither goes on nor waits for a lock');
  if (!held) await end;
  return held;
}

const WAITING = `
  SELECT waiting.pid, holder.pid AS holder, holder.state_change::text AS since
  FROM pg_stat_activity waiting
  JOIN pg_stat_activity holder ON holder.pid = ANY (pg_blocking_pids(waiting.pid))
  WHERE waiting.datname = current_database() AND waiting.wait_event_type = 'Lock'
    AND holder.state LIKE 'idle in transaction%'
  ORDER BY waiting.pid, holder.pid`;
