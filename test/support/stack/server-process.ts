import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { keepRecord, removeThrowaway, signalIfAlive, type KeptRecord } from './child-records.ts';
import { mayStart, registerLive, unregisterLive } from './live-servers.ts';
import { pollUntil } from './poll-until.ts';
import { childrenOf, identityOf, isAlive } from './process-identity.ts';

export interface ServerPlan {
  readonly kind: 'postgres' | 'kafka';
  readonly command: string;
  readonly parameters: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly workingFolder: string;
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Standard output and error go to this file and not through us: a server must not stumble when its starter dies. */
  readonly logFile: string;
  readonly gentleSignal: NodeJS.Signals;
  /** For data that nobody needs any more: quick, yet leaves nothing behind in the system. */
  readonly quickSignal: NodeJS.Signals;
  readonly throwawayFolder: string | null;
  /** Runs once it is stopped for good. */
  readonly afterStop: (() => void) | null;
  /** One question to the server; true when it is this very server that answers and it is fit for work. */
  readonly isReady: () => Promise<boolean>;
}

/** The server ended before it was ready; `message` ends with the last lines of its log. */
export class ServerDied extends Error {
  override readonly name = 'ServerDied';
}

const readyWithinMs = 90_000;
const goneWithinMs = 20_000;

/** One server process that can be ended in any way and started again on the same data. */
export class ServerProcess {
  readonly #plan: ServerPlan;
  readonly #record: KeptRecord;
  #child: ChildProcess | null = null;
  #endIsWanted = false;
  #ended: Promise<void> = Promise.resolve();
  #tellUnexpectedEnd: (what: string) => void = () => {};
  /** Resolves with a description when the process ends and nobody here asked for it. */
  readonly unexpectedEnd: Promise<string>;

  constructor(plan: ServerPlan) {
    this.#plan = plan;
    this.#record = keepRecord({
      kind: plan.kind,
      signal: plan.throwawayFolder === null ? plan.gentleSignal : plan.quickSignal,
      throwawayFolder: null,
    });
    this.unexpectedEnd = new Promise((resolve) => {
      this.#tellUnexpectedEnd = resolve;
    });
    registerLive(this);
  }

  /** Number of the running process; of the last one when none runs. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it and waits until it answers. @throws ServerDied when it ends before */
  async start(): Promise<void> {
    this.#spawn();
    const answer = await pollUntil(
      async () => (this.#runs() ? ((await this.#plan.isReady()) ? 'ready' : null) : 'died'),
      {
        deadlineMs: readyWithinMs,
      },
    );
    if (answer === 'ready') return;
    await this.kill();
    const what = answer === 'died' ? 'ended before it was ready' : `gave no answer within ${readyWithinMs / 1000} s`;
    throw new ServerDied(`${this.#plan.kind} ${what}. The end of its log:\n${lastLines(this.#plan.logFile)}`);
  }

  /** Orderly end, data kept. */
  async halt(): Promise<void> {
    await this.#end(this.#plan.gentleSignal);
  }

  /** SIGKILL to the process and its children, as when the machine loses power; data kept. */
  async kill(): Promise<void> {
    const own = identityOf(this.pid);
    if (own === null || !this.#runs()) return;
    // The parent first: it must not see its children die and start to recover.
    const all = [own, ...childrenOf(this.pid).flatMap((pid) => identityOf(pid) ?? [])];
    this.#endIsWanted = true;
    for (const identity of all) signalIfAlive(identity, 'SIGKILL');
    await this.#ended;
    await pollUntil(() => (all.some(isAlive) ? null : true), { deadlineMs: goneWithinMs });
  }

  /** On the same port and data; ends it in order first if it runs. */
  async restart(): Promise<void> {
    await this.halt();
    await this.start();
  }

  /** The end: throwaway data is removed, kept data is closed in order. May be called again. */
  async stop(): Promise<void> {
    await this.#end(this.#plan.throwawayFolder === null ? this.#plan.gentleSignal : this.#plan.quickSignal);
    if (this.#plan.throwawayFolder !== null) removeThrowaway(this.#plan.throwawayFolder);
    this.discard();
    this.#plan.afterStop?.();
  }

  /** For a process that has ended: forgets it, its data stays as it is. */
  discard(): void {
    this.#record.remove();
    unregisterLive(this);
  }

  /** What is left behind here, the next start finds by the record. */
  abandon(): void {
    this.#endIsWanted = true;
    this.#child?.kill(this.#plan.throwawayFolder === null ? this.#plan.gentleSignal : this.#plan.quickSignal);
  }

  #spawn(): void {
    if (!mayStart()) throw new ServerDied(`${this.#plan.kind} was not started: everything is being stopped.`);
    mkdirSync(dirname(this.#plan.logFile), { recursive: true });
    const log = openSync(this.#plan.logFile, 'a');
    const child = spawn(this.#plan.command, this.#plan.parameters, {
      cwd: this.#plan.workingFolder,
      env: this.#plan.environment,
      stdio: ['ignore', log, log],
      // A group of its own: Ctrl-C in a terminal goes to the whole group, and the servers must not go before those who use them.
      detached: true,
      ...this.#plan.user,
    });
    closeSync(log);
    this.#child = child;
    this.#endIsWanted = false;
    this.#record.setChild(child.pid === undefined ? null : identityOf(child.pid));
    this.#ended = new Promise((resolve) => {
      child.once('error', () => resolve());
      child.once('exit', (code, signal) => {
        if (!this.#endIsWanted)
          this.#tellUnexpectedEnd(`${this.#plan.kind} ended by itself (${signal ?? `code ${code}`})`);
        resolve();
      });
    });
  }

  #runs(): boolean {
    const child = this.#child;
    return child !== null && child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.#runs()) return;
    this.#endIsWanted = true;
    this.#child?.kill(signal);
    const gone = await pollUntil(() => (this.#runs() ? null : true), { deadlineMs: goneWithinMs, everyMs: 10 });
    if (gone === null) await this.kill();
    this.#record.setChild(null);
  }
}

function lastLines(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  } catch {
    return '(no log)';
  }
}
