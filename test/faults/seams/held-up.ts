import type { DispatchRig } from '../../support/dispatch-rig.ts';
import { pollUntil } from '../../support/stack/poll-until.ts';

const PATIENCE_MS = 60_000;

/**
 * Whether this work waits for what somebody holds in a transaction that does not go on; false when it is done. The work must be
 * awaited again after the other has let go.
 */
export async function isHeldUp(rig: DispatchRig, work: Promise<unknown>): Promise<boolean> {
  let done = false;
  const end = work.finally(() => (done = true));
  end.catch(() => undefined);
  const held = await pollUntil(
    async () => {
      if (done) return false;
      const rows = await rig.query(WAITING);
      return rows.length > 0 ? true : null;
    },
    { deadlineMs: PATIENCE_MS, everyMs: 5 },
  );
  if (held === null) throw new Error('somebody neither goes on nor waits for a lock');
  if (!held) await end;
  return held;
}

const WAITING = `
  SELECT FROM pg_stat_activity waiting
  JOIN pg_stat_activity holder ON holder.pid = ANY (pg_blocking_pids(waiting.pid))
  WHERE waiting.datname = current_database() AND waiting.wait_event_type = 'Lock'
    AND holder.state LIKE 'idle in transaction%'`;
