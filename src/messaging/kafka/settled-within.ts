/** Waits for the promise, whichever way it settles, at most `ms`. Returns whether it settled in time. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: expired, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  const settled = promise.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([settled, expired]);
  clearTimeout(timer);
  return inTime;
}
