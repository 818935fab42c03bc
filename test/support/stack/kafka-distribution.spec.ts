import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { kafkaDistribution, kafkaVersion } from './kafka-distribution.ts';
import { StackUnavailable } from './stack-unavailable.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'einmal-distribution-'));
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', ['/nowhere', join(folder, 'bin')].join(delimiter));
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
  vi.stubEnv('JAVA_HOME', undefined);
  vi.stubEnv('KAFKA_HOME', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function putProgram(name: string, prints: string): void {
  const path = join(folder, 'bin', name);
  writeFileSync(path, `#!/bin/sh\necho "${prints}" >&2\n`);
  chmodSync(path, 0o755);
}

async function refusal(): Promise<string> {
  const error = await kafkaDistribution().catch((error: unknown) => error);
  if (!(error instanceof StackUnavailable)) throw new Error(`not refused: ${String(error)}`);
  return error.message;
}

describe('Kafka without Docker', () => {
  it('says what is missing and every way out', async () => {
    const message = await refusal();
    for (const part of ['Java 17', 'Maven', 'KAFKA_HOME', 'KAFKA_BROKERS', 'docker compose', 'Nothing was started']) {
      expect(message).toContain(part);
    }
  });

  it('does not take an old Java', async () => {
    putProgram('java', 'java.specification.version = 1.8');
    putProgram('mvn', 'Apache Maven');
    expect(await refusal()).toContain('- Java 17 or newer');
  });

  it('needs Maven only to fetch', async () => {
    putProgram('java', '    java.specification.version = 21');
    expect(await refusal()).not.toContain('- Java 17 or newer (');
    const jars = join(folder, 'cache', 'einmal', `kafka-${kafkaVersion}`);
    mkdirSync(jars, { recursive: true });
    expect(await kafkaDistribution()).toEqual({ java: 'java', classPath: join(jars, '*') });
  });

  it('takes the jars of KAFKA_HOME, and says so when there are none', async () => {
    putProgram('java', 'java.specification.version = 17');
    vi.stubEnv('KAFKA_HOME', join(folder, 'kafka'));
    expect(await refusal()).toContain('KAFKA_HOME is');
    mkdirSync(join(folder, 'kafka', 'libs'), { recursive: true });
    writeFileSync(join(folder, 'kafka', 'libs', 'kafka_2.13-4.3.1.jar'), '');
    expect(await kafkaDistribution()).toEqual({ java: 'java', classPath: join(folder, 'kafka', 'libs', '*') });
  });
});
