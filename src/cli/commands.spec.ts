import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCommand } from './commands.ts';

const example = fileURLToPath(new URL('../../einmal.example.yaml', import.meta.url));
const env = {
  DATABASE_URL: 'postgres://u:hunter2@localhost/einmal',
  KAFKA_BROKERS: 'localhost:9092',
  EINMAL_CONFIG: example,
};

async function run(args: readonly string[], environment: Record<string, string> = env) {
  let out = '';
  let err = '';
  const code = await runCommand(args, {
    env: environment,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { code, out, err };
}

describe('einmal', () => {
  it.each([[['--help']], [['-h']], [['help']]])('lists the commands for %j', async (args) => {
    const { code, out } = await run(args);
    expect(code).toBe(0);
    expect(out).toContain('config check');
  });

  it.each([[[]], [['config']], [['config', 'chek']], [['toString']]])('refuses %j with the usage', async (args) => {
    const { code, err } = await run(args);
    expect(code).toBe(2);
    expect(err).toContain('Usage:');
  });
});

describe('einmal config check', () => {
  it('says that all is right, without secrets', async () => {
    const { code, out, err } = await run(['config', 'check']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('tenants: demo');
    expect(out).not.toContain('hunter2');
  });

  it('tells everything that is wrong', async () => {
    const { code, out, err } = await run(['config', 'check'], { EINMAL_CONFIG: '/nowhere.yaml', PORT: 'x' });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('4 things are wrong:');
    expect(err).toContain('/nowhere.yaml: cannot be read (ENOENT)');
  });

  it('takes no arguments', async () => {
    expect(await run(['config', 'check', 'x'])).toMatchObject({ code: 2 });
  });

  it('is reachable as a process', () => {
    const script = fileURLToPath(new URL('einmal.ts', import.meta.url));
    const child = spawnSync(process.execPath, [script, 'config', 'check'], { encoding: 'utf8', env });
    expect({ status: child.status, stderr: child.stderr }).toEqual({ status: 0, stderr: '' });
  });
});
