import { pollUntil } from './stack/poll-until.ts';

/** Waits until `probe` says true. @throws Error naming `what` when it has not within `deadlineMs` */
export async function eventually(
  what: string,
  deadlineMs: number,
  probe: () => Promise<boolean> | boolean,
): Promise<void> {
  const found = await pollUntil(async () => ((await probe()) ? true : null), { deadlineMs, everyMs: 50 });
  if (found === null) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`);
}
