import type { ServerProcess } from './server-process.ts';

/** A server started here, with the ways to harm it that fault tests need. */
export interface ServerHandle {
  /** Of the running process; of the last one when none runs. */
  readonly pid: number;
  /** Orderly end, data kept, {@link restart} goes on. */
  halt(): Promise<void>;
  /** SIGKILL to the process and its children; resolves when they are gone. Data kept. */
  kill(): Promise<void>;
  /** Same port, same data; ends it in order first if it runs. Resolves when it answers. */
  restart(): Promise<void>;
  /** The end; throwaway data is removed. May be called again. */
  stop(): Promise<void>;
  /** Resolves with a description when the server ends and nobody asked for it. */
  readonly unexpectedEnd: Promise<string>;
}

export function serverHandle(server: ServerProcess): ServerHandle {
  return {
    get pid() {
      return server.pid;
    },
    halt: () => server.halt(),
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
    unexpectedEnd: server.unexpectedEnd,
  };
}
