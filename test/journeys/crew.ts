import { startService, type Role, type ServiceOptions, type ServiceProcess } from '../support/service.ts';
import { freePorts } from '../support/stack/free-ports.ts';

/** A place in the crew, held by one process after the other. */
export interface Post {
  readonly roles: readonly Role[];
  readonly process: ServiceProcess;
  readonly alive: boolean;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** A new process in place of the killed one. */
  restart(): Promise<void>;
}

/** The service's processes of one journey: who runs, who was killed on purpose, who ended by itself. */
export class Crew {
  readonly posts: Post[] = [];
  /** Processes that ended and that nobody had killed: each is a failure of the journey. */
  readonly crashes: string[] = [];
  readonly #peaks = new Map<string, number>();
  readonly #options: Omit<ServiceOptions, 'roles' | 'port'>;
  #stopping = false;

  constructor(options: Omit<ServiceOptions, 'roles' | 'port'>) {
    this.#options = options;
  }

  /** Starts one process for each list of roles; ready when all of them are. */
  async start(places: readonly (readonly Role[])[]): Promise<Post[]> {
    const ports = await freePorts(places.length);
    const posts = await Promise.all(places.map(async (roles, index) => await this.#post(roles, ports[index] ?? 0)));
    this.posts.push(...posts);
    await Promise.all(posts.map(async (post) => await post.process.ready()));
    return posts;
  }

  /** Resident memory at its highest, MiB, per list of roles over all their processes. */
  async peaks(): Promise<ReadonlyMap<string, number>> {
    await Promise.all(this.posts.filter((post) => post.alive).map(async (post) => await this.#notePeak(post)));
    return this.#peaks;
  }

  /** SIGKILL to all: what they leave is the next process's business, and nobody comes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.posts.filter((post) => post.alive).map(async (post) => await post.process.kill()));
  }

  async #post(roles: readonly Role[], port: number): Promise<Post> {
    let killed = false;
    const begin = async (): Promise<ServiceProcess> => {
      const service = await startService({ ...this.#options, roles, port });
      killed = false;
      void this.#noteCrash(service, () => killed);
      return service;
    };
    let current = await begin();
    const post: Post = {
      roles,
      get process() {
        return current;
      },
      get alive() {
        return !killed && !current.hasEnded();
      },
      kill: async () => {
        await this.#notePeak(post);
        killed = true;
        await current.kill();
      },
      restart: async () => {
        if (!this.#stopping) current = await begin();
      },
    };
    return post;
  }

  async #noteCrash(service: ServiceProcess, wasKilled: () => boolean): Promise<void> {
    const end = await service.exited;
    if (!wasKilled() && !this.#stopping) this.crashes.push(`${service.roles.join('+')} ended by itself: ${end}`);
  }

  async #notePeak(post: Post): Promise<void> {
    const key = post.roles.join('+');
    this.#peaks.set(key, Math.max(this.#peaks.get(key) ?? 0, (await post.process.peakMiB()) ?? 0));
  }
}
