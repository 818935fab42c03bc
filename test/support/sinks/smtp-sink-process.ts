// Usage: node test/support/sinks/smtp-sink-process.ts --port 0
// Prints one line of JSON when ready: {"host","port","controlUrl","pid"}, with --api also {"apiUrl","apiControlUrl"}. Ends at SIGTERM or SIGINT.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { parseArgs } from 'node:util';
import { startApiServers } from './api-sink-server.ts';
import { createControlServer } from './smtp-sink-control.ts';
import { SinkLedger } from './smtp-sink-ledger.ts';
import { SinkScript } from './smtp-sink-script.ts';
import { serveSmtp, type SinkContext } from './smtp-sink-session.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    'control-port': { type: 'string', default: '0' },
    /** Comma list of what EHLO announces. */
    extensions: { type: 'string', default: 'PIPELINING,8BITMIME,SMTPUTF8,SIZE 52428800,ENHANCEDSTATUSCODES' },
    /** user:password */
    auth: { type: 'string' },
    arrivals: { type: 'boolean', default: false },
    /** Number of messages whose bytes are kept for /raw. */
    'keep-raw': { type: 'string', default: '0' },
    /** Also serves the HTTP APIs, on two more ports. */
    api: { type: 'boolean', default: false },
    /** Ends when standard input does, so that no sink outlives the test that started it. */
    'exit-with-stdin': { type: 'boolean', default: false },
  },
});

const context: SinkContext = {
  ledger: new SinkLedger(values.arrivals, Number(values['keep-raw'])),
  script: new SinkScript(),
  extensions: values.extensions.split(',').filter((extension) => extension !== ''),
  auth: values.auth ?? null,
  stalled: new Set(),
};

const smtp = createServer({ allowHalfOpen: false }, (socket) => {
  context.ledger.connections += 1;
  context.ledger.openConnections += 1;
  socket.once('close', () => (context.ledger.openConnections -= 1));
  serveSmtp(socket, context);
});
const control = createControlServer(context);

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function listen(server: Server, port: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(Number(port), values.host, 4096, resolve);
  });
}

await listen(smtp, values.port);
await listen(control, values['control-port']);
const { host } = values;
const controlUrl = `http://${host.includes(':') ? `[${host}]` : host}:${portOf(control)}`;
const api = values.api ? await startApiServers(0, 0) : {};
console.log(JSON.stringify({ host, port: portOf(smtp), controlUrl, pid: process.pid, ...api }));

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
if (values['exit-with-stdin']) process.stdin.once('end', () => process.exit(0)).resume();
