import { ALL_ROLES, type Role } from '../support/service.ts';
import type { Post } from './crew.ts';
import type { Journey } from './journey.ts';
import { countEnded, countIn, type Standing } from './ledger.ts';
import type { Narrator } from './narrator.ts';
import { seededDraws } from './seeded.ts';

export interface PlannedKill {
  /** Progress of the campaign at which it is due, 0 to 1. */
  readonly at: number;
  readonly role: Role;
  /** Milliseconds until the next process is started in its place. */
  readonly pauseMs: number;
  /** 0 to 1: which of the role's processes. */
  readonly pick: number;
}

/** How much of a run's progress each stage is, and whose work it is. */
const STAGES: readonly { readonly share: number; readonly worker: Role }[] = [
  { share: 0.2, worker: 'consumer' },
  { share: 0.2, worker: 'maintenance' },
  { share: 0.6, worker: 'dispatcher' },
];
const PAUSE_MS = { low: 200, high: 2_000 };

/** Spread evenly over the run, with chance in between: every other kill hits whose work the stage is, the rest all roles in turn. */
export function planKills(count: number, seed: number): PlannedKill[] {
  const draws = seededDraws(seed);
  const deck: Role[] = [];
  const hits = new Map<Role, number>();
  return Array.from({ length: count }, (_, index) => {
    const at = (index + draws.between(0.1, 0.9)) / count;
    const { worker } = stageAt(at);
    const hitsHere = hits.get(worker) ?? 0;
    hits.set(worker, hitsHere + 1);
    if (deck.length === 0) deck.push(...draws.shuffled(ALL_ROLES));
    const role = hitsHere % 2 === 0 ? worker : (deck.pop() ?? worker);
    return { at, role, pauseMs: draws.between(PAUSE_MS.low, PAUSE_MS.high), pick: draws.next() };
  });
}

function stageAt(progress: number): { readonly worker: Role } {
  let end = 0;
  for (const stage of STAGES) {
    end += stage.share;
    if (progress < end) return stage;
  }
  return { worker: 'dispatcher' };
}

/** 0 to 1 over all stages: subscribers stored, audience frozen, operations ended. */
export function progressOf({ recipients, expected }: Journey, standing: Standing): number {
  const done = [
    standing.subscribers / recipients.length,
    countIn(standing) / expected.size,
    countEnded(standing) / expected.size,
  ];
  return STAGES.reduce((sum, { share }, index) => sum + share * Math.min(1, done[index] ?? 0), 0);
}

/** Carries a plan out, and fills each place again after its pause. */
export class Killer {
  readonly #journey: Journey;
  readonly #narrator: Narrator;
  readonly #due: PlannedKill[];
  readonly #restarts: Promise<void>[] = [];
  done = 0;

  constructor(journey: Journey, plan: readonly PlannedKill[], narrator: Narrator) {
    this.#journey = journey;
    this.#narrator = narrator;
    this.#due = [...plan];
  }

  /** Kills what is due by now. A kill waits while its role has nobody who lives. */
  async look(standing: Standing): Promise<void> {
    const progress = progressOf(this.#journey, standing);
    for (const kill of this.#due.filter(({ at }) => at <= progress)) {
      const living = this.#journey.crew.posts.filter((post) => post.alive && post.roles.includes(kill.role));
      const victim = living[Math.floor(kill.pick * living.length)];
      if (!victim) continue;
      this.#due.splice(this.#due.indexOf(kill), 1);
      await this.#kill(victim, kill, progress);
    }
  }

  /** Resolves when every place is filled again. */
  async settled(): Promise<void> {
    await Promise.all(this.#restarts);
  }

  async #kill(victim: Post, { role, pauseMs }: PlannedKill, progress: number): Promise<void> {
    await victim.kill();
    this.done += 1;
    this.#narrator.say(
      'kill -9',
      `${role} at ${Math.round(progress * 100)} % of the run, back after ${Math.round(pauseMs)} ms`,
    );
    this.#restarts.push(
      (async () => {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        await victim.restart();
      })(),
    );
  }
}
