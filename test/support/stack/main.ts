import { parseArgs } from 'node:util';
import { stopAllServers, stopServersOnSignals, StackUnavailable, startStack } from './stack.ts';

const log = (line: string): void => console.error(`stack: ${line}`);

/** `npm run stack [-- --throwaway]`: runs the pair until Ctrl-C and says how to reach it, in a form that a shell can take. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { throwaway: { type: 'boolean', default: false } } });
  stopServersOnSignals({ exitCode: 0, log });
  const begin = performance.now();
  const stack = await startStack({ mode: values.throwaway ? 'throwaway' : 'persistent', log });
  log(`ready after ${((performance.now() - begin) / 1000).toFixed(1)} s; Ctrl-C stops it`);
  console.log(`export DATABASE_URL='${stack.databaseUrl}'`);
  console.log(`export KAFKA_BROKERS='${stack.kafkaBrokers}'`);
  if (stack.postgres === undefined && stack.kafka === undefined) {
    log('nothing to be started here');
    return;
  }
  log(await stack.unexpectedEnd);
  await stopAllServers();
  process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  log(error instanceof StackUnavailable ? error.message : String(error));
  await stopAllServers();
  process.exitCode = 1;
}
