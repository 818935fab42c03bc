export type ReachContext = Readonly<Record<string, unknown>>;
export type ReachListener = (context: ReachContext) => void | Promise<void>;

const nothing: ReachContext = Object.freeze({});
/** null while nobody listens, which is always so in production: reach() is then one comparison. */
let listeners: Map<string, Set<ReachListener>> | null = null;

/**
 * Marks a named point of a pipeline (`dispatch.after-claim`). A listener may hold the caller there, throw, or end the process.
 * Always `await` it.
 */
export function reach(point: string, context: ReachContext = nothing): Promise<void> | undefined {
  if (listeners === null) return undefined;
  const here = listeners.get(point);
  return here === undefined ? undefined : tell([...here], context);
}

/** Calls `listener` each time the point is reached, until the returned function is called. */
export function onReach(point: string, listener: ReachListener): () => void {
  listeners ??= new Map();
  const here = listeners.get(point) ?? new Set();
  listeners.set(point, here.add(listener));
  return () => {
    here.delete(listener);
    if (here.size === 0 && listeners?.get(point) === here) listeners.delete(point);
    if (listeners?.size === 0) listeners = null;
  };
}

export interface Gate extends Disposable {
  /** Resolves with the context of the caller that is held at the gate. */
  readonly reached: Promise<ReachContext>;
  /** Lets the held caller go on; with an error, that is thrown there instead. */
  open(error?: Error): void;
}

/** Holds the first caller (or the first that `matches`) at the point; every other passes. Disposing opens it. */
export function gateAt(point: string, matches: (context: ReachContext) => boolean = () => true): Gate {
  const reached = Promise.withResolvers<ReachContext>();
  const opened = Promise.withResolvers<void>();
  // A gate that is opened with an error before anybody came must not end the process.
  opened.promise.catch(() => undefined);
  const remove = onReach(point, async (context) => {
    if (!matches(context)) return;
    remove();
    reached.resolve(context);
    await opened.promise;
  });
  const open = (error?: Error): void => {
    remove();
    if (error === undefined) opened.resolve();
    else opened.reject(error);
  };
  return { reached: reached.promise, open, [Symbol.dispose]: () => open() };
}

async function tell(here: readonly ReachListener[], context: ReachContext): Promise<void> {
  for (const listener of here) await listener(context);
}
