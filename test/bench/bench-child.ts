import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of one side of a pair, which answers questions one at a time. */
export interface BenchChild {
  readonly pid: number;
  /** Sends a question and waits for its answer. @throws Error when the process ends before */
  ask(question: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * @param script relative to this folder; it sends `ready` when it is
 * @param settings handed over as one JSON argument
 */
export async function startChild(script: string, settings: object): Promise<BenchChild> {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const answer = async (): Promise<unknown> => {
    const first: unknown = await Promise.race([
      once(child, 'message').then(([message]: unknown[]) => ({ message })),
      ended.then(([code]: unknown[]) => ({ code })),
    ]);
    if (typeof first === 'object' && first !== null && 'message' in first) return first.message;
    throw new Error(`${script} ended too early`);
  };
  await answer();
  return {
    pid: child.pid ?? 0,
    ask: async (question) => {
      const answered = answer();
      child.send(question as object);
      return await answered;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
