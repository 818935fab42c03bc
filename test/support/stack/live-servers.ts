import { constants } from 'node:os';

interface Stoppable {
  /** Later ones first: what was started on top of something goes before it. */
  stop(): Promise<void>;
  /** The process is about to end at once: only signals, nothing that waits. */
  abandon(): void;
}

const live = new Set<Stoppable>();
let closing = false;

/** False from the moment a signal asked everything to stop: nothing new may start then. */
export function mayStart(): boolean {
  return !closing;
}

export function registerLive(server: Stoppable): void {
  if (live.size === 0) process.once('exit', abandonAll);
  live.add(server);
}

export function unregisterLive(server: Stoppable): void {
  live.delete(server);
  if (live.size === 0) process.removeListener('exit', abandonAll);
}

/** Stops whatever this process has started and not yet stopped. Failures do not keep the rest from stopping. */
export async function stopAllServers(): Promise<void> {
  for (const server of [...live].toReversed()) await server.stop().catch(() => server.abandon());
}

/**
 * SIGINT, SIGTERM and SIGHUP stop all servers and end this process; repeated ones change nothing (a terminal and npm both send them).
 * @param exitCode of the orderly end; null for the customary 128 + number of the signal
 */
export function stopServersOnSignals(options: { exitCode: number | null; log: (line: string) => void }): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (closing) return;
      closing = true;
      options.log('stopping');
      void stopAllServers().finally(() => process.exit(options.exitCode ?? 128 + constants.signals[signal]));
    });
  }
}

function abandonAll(): void {
  for (const server of live) server.abandon();
}
