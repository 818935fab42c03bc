import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { userCacheFolder } from './folders.ts';
import { StackUnavailable } from './stack-unavailable.ts';

const run = promisify(execFile);

export const kafkaVersion = '4.3.1';
/** The API that Kafka's jars log through is of this version and brings nothing that writes. */
const slf4jVersion = '1.7.36';
/** Kafka 4's broker asks for it. */
const lowestJava = 17;
const copyDependencies = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

export interface KafkaDistribution {
  /** Path of a Java 17 or newer. */
  readonly java: string;
  /** For `java -cp`. */
  readonly classPath: string;
}

/**
 * Finds Java and Kafka's jars: those of `KAFKA_HOME`, else the ones in the user's cache, else Maven fetches them there once (44 MB).
 * Starts nothing that stays.
 * @throws StackUnavailable with the ways out
 */
export async function kafkaDistribution(log: (line: string) => void = () => {}): Promise<KafkaDistribution> {
  const home = process.env['KAFKA_HOME'];
  const jars = home ? jarsOfHome(home) : join(userCacheFolder(), `kafka-${kafkaVersion}`);
  const java = await findJava();
  const mavenIsNeeded = !existsSync(jars);
  const lacking = [
    ...(java === null ? [`Java ${lowestJava} or newer (neither JAVA_HOME nor PATH leads to one)`] : []),
    ...(mavenIsNeeded && !(await mavenRuns())
      ? [`Maven, which fetches Kafka ${kafkaVersion} once (no mvn in PATH)`]
      : []),
  ];
  if (java === null || lacking.length > 0) throw new StackUnavailable(waysOut(lacking));
  if (mavenIsNeeded) await fetchJars(jars, log);
  return { java, classPath: join(jars, '*') };
}

function waysOut(lacking: readonly string[]): string {
  return [
    'The development stack needs a Kafka broker and cannot start one here. Missing:',
    ...lacking.map((what) => `  - ${what}`),
    'Any one of these helps:',
    `  - install Java ${lowestJava} or newer and Maven (apt install openjdk-17-jre-headless maven, or brew install openjdk maven)`,
    `  - install Java only, unpack a Kafka ${kafkaVersion} distribution and set KAFKA_HOME to its folder`,
    '  - set KAFKA_BROKERS to a broker that is running (host:port, comma separated)',
    '  - run everything in containers: docker compose up',
    'Nothing was started.',
  ].join('\n');
}

function jarsOfHome(home: string): string {
  const libs = join(home, 'libs');
  const found = existsSync(libs) && readdirSync(libs).some((name) => /^kafka_2\.\d+-[\d.]+\.jar$/.test(name));
  if (found) return libs;
  throw new StackUnavailable(
    `KAFKA_HOME is ${home}, but ${libs} holds no Kafka jars. Set it to an unpacked distribution or unset it.`,
  );
}

async function findJava(): Promise<string | null> {
  const home = process.env['JAVA_HOME'];
  const candidates = [...(home ? [join(home, 'bin', 'java')] : []), 'java'];
  for (const candidate of candidates) {
    const major = await javaMajor(candidate);
    if (major !== null && major >= lowestJava) return candidate;
  }
  return null;
}

/** 8 calls itself 1.8 there, which is below 17 all the same. */
async function javaMajor(java: string): Promise<number | null> {
  try {
    const { stderr, stdout } = await run(java, ['-XshowSettings:properties', '-version']);
    const version = /^\s*java\.specification\.version = (\d+)/m.exec(stderr + stdout)?.[1];
    return version === undefined ? null : Number(version);
  } catch {
    return null;
  }
}

function mavenRuns(): Promise<boolean> {
  return run('mvn', ['--version']).then(
    () => true,
    () => false,
  );
}

/** Made under another name and renamed: a download cut in half must not look finished, and two at once must not mix. */
async function fetchJars(jars: string, log: (line: string) => void): Promise<void> {
  log(`fetching Kafka ${kafkaVersion} (44 MB) by Maven, once for this user`);
  const work = `${jars}.partial-${process.pid}`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    writeFileSync(join(work, 'pom.xml'), pom());
    const output = await maven(work, [
      copyDependencies,
      '-DincludeScope=runtime',
      `-DoutputDirectory=${join(work, 'jars')}`,
    ]);
    if (output !== null) throw new StackUnavailable(`Maven could not fetch Kafka ${kafkaVersion}:\n${output}`);
    moveInto(join(work, 'jars'), jars);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function moveInto(complete: string, jars: string): void {
  try {
    renameSync(complete, jars);
  } catch (error) {
    if (!existsSync(jars)) throw error;
  }
}

/** @returns the end of its output when it failed */
function maven(folder: string, goals: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn('mvn', ['--batch-mode', '--quiet', '--strict-checksums', ...goals], { cwd: folder });
    const stop = (): unknown => child.kill();
    process.once('exit', stop);
    let output = '';
    const keep = (data: Buffer): void => {
      output = (output + data.toString()).slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => {
      process.removeListener('exit', stop);
      resolve(code === 0 ? null : output.trim());
    });
  });
}

function dependency(group: string, artifact: string, version: string): string {
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
}

function pom(): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>einmal</groupId><artifactId>development-broker</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
${dependency('org.apache.kafka', 'kafka_2.13', kafkaVersion)}
${dependency('org.slf4j', 'slf4j-simple', slf4jVersion)}
</dependencies>
</project>
`;
}
