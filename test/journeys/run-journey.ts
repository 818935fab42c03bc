import { mayStart } from '../support/stack/live-servers.ts';
import { startStack, StackUnavailable, stopServersOnSignals, type Stack } from '../support/stack/stack.ts';
import { openJourney, type Journey, type JourneyOptions } from './journey.ts';
import type { Narrator } from './narrator.ts';

type Surroundings = Omit<JourneyOptions, 'databaseUrl' | 'kafkaBrokers'>;

/**
 * Runs a journey on a stack of its own and stops all of it, whatever happens. The exit code is 1 when `go` says false or
 * throws; then the logs are kept and named.
 */
export async function runJourney(
  narrator: Narrator,
  options: Surroundings,
  go: (journey: Journey) => Promise<boolean>,
): Promise<void> {
  stopServersOnSignals({ exitCode: null, log: (line) => narrator.print(line) });
  let stack: Stack | undefined;
  let journey: Journey | undefined;
  let right = false;
  try {
    const begin = performance.now();
    stack = await startStack({ mode: 'throwaway', log: (line) => narrator.say('stack', line) });
    narrator.say('stack', `PostgreSQL and Kafka answer after ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    journey = await openJourney({ ...options, databaseUrl: stack.databaseUrl, kafkaBrokers: stack.kafkaBrokers });
    void noteEndOfStack(stack, journey);
    right = await go(journey);
  } catch (error) {
    if (mayStart()) narrator.print(textOf(error));
  }
  // A signal has begun to stop everything by itself and ends the process.
  if (!mayStart()) return;
  await journey?.close({ keepLogs: !right });
  await stack?.stop();
  if (!right) process.exitCode = 1;
  if (!right && journey) narrator.print(`  The output of all service processes is in ${journey.logFile}`);
}

async function noteEndOfStack(stack: Stack, { crew }: Journey): Promise<void> {
  crew.crashes.push(await stack.unexpectedEnd);
}

function textOf(error: unknown): string {
  if (error instanceof StackUnavailable) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
