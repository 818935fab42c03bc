import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { projectRoot } from '../support/stack/folders.ts';

const MAIN = join(projectRoot, 'dist', 'src', 'main.js');

async function startAndWait(
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env['PATH'] ?? '', ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, stdout, stderr };
}

it('does not start with wrong settings, and tells all of them at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'einmal-start-'));
  const file = join(folder, 'einmal.yaml');
  await writeFile(file, 'tenants: { demo: { sender: [a@example.org], provider: nobody } }\nproviders: {}\n');
  const { code, stdout, stderr } = await startAndWait({ EINMAL_CONFIG: file, PORT: 'eighty', EINMAL_ROLE: 'api' });
  await rm(folder, { recursive: true });
  expect(code).toBe(1);
  expect(stdout).toBe('');
  for (const path of ['PORT', 'DATABASE_URL', 'KAFKA_BROKERS', 'EINMAL_ROLES', 'tenants.demo.senders', 'providers']) {
    expect(stderr).toContain(path);
  }
});

it('does not start on an older schema, and says what to do', async () => {
  const database = await createDatabase(inject('databaseUrl'));
  const { code, stdout } = await startAndWait({
    DATABASE_URL: database.url,
    KAFKA_BROKERS: inject('kafkaBrokers'),
    EINMAL_CONFIG: join(projectRoot, 'einmal.example.yaml'),
    PORT: '0',
  });
  await database.drop();
  expect(code).toBe(1);
  expect(stdout).toContain('database.schema-too-old');
  expect(stdout).toContain('npm run migrate');
});
