import { Kafka, logLevel } from 'kafkajs';
import { patchRequestQueue } from '../../../src/messaging/kafka/kafkajs-patches.ts';

/**
 * One question to the broker: true when it gives the metadata of the cluster `clusterId` with its one broker in it, and the group
 * coordinator answers. A port that accepts is not enough, consumers would still be sent away; another broker at that port is not ours.
 */
export async function kafkaAnswers(broker: string, clusterId: string): Promise<boolean> {
  patchRequestQueue();
  const kafka = new Kafka({
    clientId: 'einmal-stack',
    brokers: [broker],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 2000,
    requestTimeout: 5000,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    const cluster = await admin.describeCluster();
    if (cluster.clusterId !== clusterId || cluster.brokers.length !== 1 || cluster.controller === null) return false;
    // An unknown group is an answer ("dead"); a coordinator that is not there yet or still loading is an error.
    await admin.describeGroups(['einmal-stack-ready']);
    return true;
  } catch {
    return false;
  } finally {
    await admin.disconnect().catch(() => {});
  }
}
