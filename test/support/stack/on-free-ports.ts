import { allCanBind, freePorts } from './free-ports.ts';
import { ServerDied, type ServerProcess } from './server-process.ts';

const attempts = 4;

/**
 * Starts a server on ports that were free a moment ago. When it dies and one of its ports proves to be taken, it is started on others.
 * @param remembered tried first, when they are free
 */
export async function onFreePorts(
  count: number,
  remembered: readonly number[] | null,
  prepare: (ports: readonly number[]) => Promise<ServerProcess>,
): Promise<{ server: ServerProcess; ports: readonly number[] }> {
  let ports = remembered !== null && (await allCanBind(remembered)) ? remembered : await freePorts(count);
  for (let attempt = 1; ; attempt += 1) {
    const server = await prepare(ports);
    try {
      await server.start();
      return { server, ports };
    } catch (error) {
      const portTaken = error instanceof ServerDied && !(await allCanBind(ports));
      if (!portTaken || attempt === attempts) {
        await server.stop();
        throw error;
      }
      server.discard();
      ports = await freePorts(count);
    }
  }
}
