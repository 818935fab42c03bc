import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newThrowaway, removeThrowaway } from './child-records.ts';
import { claimFolder } from './folder-claim.ts';
import { loopback } from './free-ports.ts';
import { kafkaDistribution, type KafkaDistribution } from './kafka-distribution.ts';
import { kafkaProperties } from './kafka-properties.ts';
import { kafkaAnswers } from './kafka-readiness.ts';
import { onFreePorts } from './on-free-ports.ts';
import { serverHandle, type ServerHandle } from './server-handle.ts';
import { ServerProcess } from './server-process.ts';
import { StackUnavailable } from './stack-unavailable.ts';

const run = promisify(execFile);

export interface KafkaHandle extends ServerHandle {
  /** `host:port` */
  readonly brokers: string;
}

export interface KafkaOptions {
  readonly log?: (line: string) => void;
  /** Found (and fetched) when not given. */
  readonly distribution?: KafkaDistribution;
}

/** Without counters in the system's temporary folder, which a SIGKILL would leave there. */
const javaOptions = [
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:-UsePerfData',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
];

/** The cluster's name and the ports it was last started with, beside its data. Written when the data is formatted. */
interface ClusterFile {
  readonly clusterId: string;
  readonly ports: readonly number[];
}

interface Launch {
  readonly distribution: KafkaDistribution;
  readonly folder: string;
  readonly throwaway: boolean;
  readonly afterStop: (() => void) | null;
}

/** A broker of one's own whose data is thrown away at `stop`. @throws StackUnavailable */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaHandle> {
  const distribution = options.distribution ?? (await kafkaDistribution(options.log));
  const folder = newThrowaway('kafka');
  try {
    return await launch({ distribution, folder, throwaway: true, afterStop: null });
  } catch (error) {
    removeThrowaway(folder);
    throw error;
  }
}

/**
 * The broker whose data is kept in `folder`, at the ports it had before. Without handle: another process runs it already.
 * @throws StackUnavailable
 */
export async function openKafka(
  folder: string,
  options: KafkaOptions = {},
): Promise<{ brokers: string; handle: KafkaHandle | null }> {
  const claim = await claimFolder(folder);
  if (claim.kind === 'in-use') {
    options.log?.(`Kafka is running already, started by process ${claim.ownerPid}: using that`);
    return { brokers: claim.address, handle: null };
  }
  try {
    const distribution = options.distribution ?? (await kafkaDistribution(options.log));
    const handle = await launch({ distribution, folder, throwaway: false, afterStop: claim.release });
    claim.publish(handle.brokers);
    return { brokers: handle.brokers, handle };
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function launch(how: Launch): Promise<KafkaHandle> {
  const remembered = readCluster(how.folder)?.ports ?? null;
  const { server, ports } = await onFreePorts(2, remembered, async (ports) => await plan(how, ports));
  return Object.assign(serverHandle(server), { brokers: `${loopback}:${ports[0] ?? 0}` });
}

async function plan(how: Launch, ports: readonly number[]): Promise<ServerProcess> {
  const { distribution, folder } = how;
  const [port = 0, controllerPort = 0] = ports;
  const java = [...javaOptions, '-cp', distribution.classPath];
  const dataFolder = join(folder, 'data');
  const properties = join(folder, 'server.properties');
  const scratch = join(folder, 'scratch');
  mkdirSync(scratch, { recursive: true });
  writeFileSync(properties, kafkaProperties({ port, controllerPort, dataFolder }));
  const clusterId = readCluster(folder)?.clusterId ?? (await format(distribution, properties, dataFolder));
  writeCluster(folder, { clusterId, ports });
  return new ServerProcess({
    kind: 'kafka',
    command: distribution.java,
    // It unpacks native libraries to the scratch folder, from where they go with the rest.
    parameters: [...java, '-Xms128m', '-Xmx384m', `-Djava.io.tmpdir=${scratch}`, 'kafka.Kafka', properties],
    environment: process.env,
    workingFolder: folder,
    user: null,
    logFile: join(folder, 'kafka.log'),
    gentleSignal: 'SIGTERM',
    quickSignal: 'SIGKILL',
    throwawayFolder: how.throwaway ? folder : null,
    afterStop: how.afterStop,
    isReady: () => kafkaAnswers(`${loopback}:${port}`, clusterId),
  });
}

/** A format that was cut short left no cluster file: its data is removed and made anew. @returns the new cluster's id */
async function format(distribution: KafkaDistribution, properties: string, dataFolder: string): Promise<string> {
  rmSync(dataFolder, { recursive: true, force: true });
  const clusterId = newClusterId();
  const parameters = ['format', '--cluster-id', clusterId, '--config', properties, '--standalone'];
  const java = [...javaOptions, '-cp', distribution.classPath, '-Xmx128m'];
  try {
    await run(distribution.java, [...java, 'kafka.tools.StorageTool', ...parameters]);
  } catch (error) {
    throw new StackUnavailable(
      `Kafka's storage could not be formatted: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return clusterId;
}

/** 16 random bytes as Kafka writes them; one that begins with a hyphen would be taken for an option. */
function newClusterId(): string {
  const id = randomBytes(16).toString('base64url');
  return id.startsWith('-') ? newClusterId() : id;
}

function readCluster(folder: string): ClusterFile | null {
  const file = join(folder, 'cluster.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ClusterFile) : null;
}

function writeCluster(folder: string, cluster: ClusterFile): void {
  writeFileSync(join(folder, 'cluster.json'), JSON.stringify(cluster));
}
