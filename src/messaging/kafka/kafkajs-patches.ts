import { createRequire } from 'node:module';

/** The only release whose inner workings the guards of this folder were checked against. */
export const KNOWN_KAFKAJS_VERSION = '2.2.4';

/** kafkajs polls a queue that waits for a free slot at this interval; shorter would be a busy loop again. */
const RECHECK_MS = 10;

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

const requireHere = createRequire(import.meta.url);

/**
 * kafkajs 2.2.4 arms a timer in the past for every answered request, also when nothing is pending: a busy loop of about one
 * tick per millisecond and connection, and Node 24's `TimeoutNegativeWarning` (tulios/kafkajs#1751). This arms one only while
 * requests are pending. Returns false, and changes nothing, for any other release.
 */
export function patchRequestQueue(): boolean {
  if (installedKafkajsVersion() !== KNOWN_KAFKAJS_VERSION) return false;
  const { prototype } = requireHere('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  prototype.scheduleCheckPendingRequests = scheduleWhilePending;
  return true;
}

export function installedKafkajsVersion(): string {
  return (requireHere('kafkajs/package.json') as { version: string }).version;
}

function scheduleWhilePending(this: RequestQueue): void {
  if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
  const recheck = (): void => {
    this.throttleCheckTimeoutId = null;
    this.checkPendingRequests();
  };
  this.throttleCheckTimeoutId = setTimeout(recheck, Math.max(this.throttledUntil - Date.now(), RECHECK_MS));
}
