import type { Stack } from '../support/stack/stack.ts';
import type { CpuSeconds } from './cpu-meter.ts';
import { rounded } from './figures.ts';

/** What both pairs stand on: the one stack, and where people are told how far it is. */
export interface BenchGround {
  readonly stack: Stack;
  /** For people: standard error. */
  progress(line: string): void;
  /** Processor time of one run, if it was asked for. */
  cpu(what: string, seconds: CpuSeconds, count: number): void;
  /** Process numbers of the servers, where this process started them. */
  servers(): Readonly<Record<string, number>>;
}

export function progress(line: string): void {
  console.error(`bench: ${line}`);
}

/** @param showCpu whether processor times are told */
export function benchGround(stack: Stack, showCpu: boolean): BenchGround {
  return {
    stack,
    progress,
    cpu: (what, seconds, count) => {
      if (!showCpu) return;
      const each = Object.entries(seconds).map(([name, spent]) => `${name} ${rounded((spent * 1e6) / count)}`);
      const all = Object.values(seconds).reduce((sum, spent) => sum + spent, 0);
      progress(`${what}: µs of processor time each: ${each.join(', ')}; together ${rounded((all * 1e6) / count)}`);
    },
    servers: () => ({
      ...(stack.postgres ? { postgres: stack.postgres.pid } : {}),
      ...(stack.kafka ? { kafka: stack.kafka.pid } : {}),
    }),
  };
}
