import { loopback } from './free-ports.ts';

/**
 * `server.properties` of one KRaft node that is broker and controller.
 * The short session and heartbeat let it start again soon after a SIGKILL: the controller waits until the broker before it has expired
 * (4 s instead of 12 s with the defaults of 9 s and 2 s).
 */
export function kafkaProperties(where: { port: number; controllerPort: number; dataFolder: string }): string {
  const broker = `PLAINTEXT://${loopback}:${where.port}`;
  const controller = `${loopback}:${where.controllerPort}`;
  const properties: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.bootstrap.servers': controller,
    listeners: `${broker},CONTROLLER://${controller}`,
    'advertised.listeners': `${broker},CONTROLLER://${controller}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': where.dataFolder,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'broker.session.timeout.ms': 2000,
    'broker.heartbeat.interval.ms': 500,
    'num.partitions': 1,
    'auto.create.topics.enable': false,
    'log.segment.bytes': 16_777_216,
    'num.network.threads': 2,
    'num.io.threads': 2,
  };
  return `${Object.entries(properties)
    .map(([name, value]) => `${name}=${String(value).replaceAll('\\', '\\\\')}`)
    .join('\n')}\n`;
}
