// Usage: node test/support/sinks/api-sink-process.ts --port 0
// Prints one line of JSON when ready: {"apiUrl","apiControlUrl","pid"}. Ends at SIGTERM or SIGINT.
import { parseArgs } from 'node:util';
import { startApiServers } from './api-sink-server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'control-port': { type: 'string', default: '0' },
    /** Ends when standard input does, so that no sink outlives the test that started it. */
    'exit-with-stdin': { type: 'boolean', default: false },
  },
});

const servers = await startApiServers(Number(values.port), Number(values['control-port']));
console.log(JSON.stringify({ ...servers, pid: process.pid }));

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
if (values['exit-with-stdin']) process.stdin.once('end', () => process.exit(0)).resume();
