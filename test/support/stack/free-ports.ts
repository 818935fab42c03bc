import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';
import { StackUnavailable } from './stack-unavailable.ts';

export const loopback = '127.0.0.1';

/**
 * Below the range from which Linux (32768 up) and macOS (49152 up) take the near end of outgoing connections: from inside it, a
 * client that calls a stopped server again and again can be given the server's own port and then holds it against the restart.
 */
const lowest = 20_000;
const beyond = 32_000;

/** Different ports of 127.0.0.1 that could be bound a moment ago. Whoever binds them must be ready to ask again. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  for (let tries = 0; tries < 200 && found.size < count; tries += 1) {
    const port = randomInt(lowest, beyond);
    if (await canBind(port)) found.add(port);
  }
  if (found.size < count) throw new StackUnavailable(`No free port found between ${lowest} and ${beyond - 1}.`);
  return [...found];
}

export async function allCanBind(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) if (!(await canBind(port))) return false;
  return true;
}

function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: loopback, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
