import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from './stack/folders.ts';
import { pollUntil } from './stack/poll-until.ts';
import { CannotRun, exitCodeOf, main, needsBuild, needsInstall, parseWords, runTarget, underLock } from './npm-run.mjs';

let root = '';
const past = new Date('2020-01-01');
const later = new Date('2020-01-02');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'einmal-npm-run-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(name: string, content: string, changed = past): void {
  const path = join(root, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  utimesSync(path, changed, changed);
}

function lockfile(packages: Record<string, object>): string {
  return JSON.stringify({ packages });
}

describe('the words of a script', () => {
  it('name the target after the flag and leave everything else to it', () => {
    expect(parseWords(['--build', 'a.js', '--build', 'x'])).toEqual({
      build: true,
      target: 'a.js',
      rest: ['--build', 'x'],
    });
    expect(parseWords(['a.ts'])).toEqual({ build: false, target: 'a.ts', rest: [] });
  });

  it('are refused without a target', () => {
    expect(() => parseWords(['--build'])).toThrow(CannotRun);
    expect(() => parseWords(['--other', 'a.ts'])).toThrow(CannotRun);
  });
});

describe('installing', () => {
  const one = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } };

  it('is needed without node_modules and after an installation that was cut short', () => {
    put('package-lock.json', lockfile(one));
    expect(needsInstall(root)).toBe(true);
    mkdirSync(join(root, 'node_modules', 'a'), { recursive: true });
    expect(needsInstall(root)).toBe(true);
  });

  it('is needed when a younger lockfile asks for another version', () => {
    put('package-lock.json', lockfile({ 'node_modules/a': { version: '2.0.0', integrity: 'sha512-b' } }), later);
    put('node_modules/.package-lock.json', lockfile(one));
    expect(needsInstall(root)).toBe(true);
  });

  it('is not needed when a younger lockfile asks for what is there, apart from packages for other systems', () => {
    const foreign = { 'node_modules/b': { version: '1.0.0', integrity: 'sha512-c', optional: true } };
    put('package-lock.json', lockfile({ '': {}, ...one, ...foreign }), later);
    put('node_modules/.package-lock.json', lockfile(one));
    expect(needsInstall(root)).toBe(false);
  });
});

describe('building', () => {
  beforeEach(() => {
    put('src/a/b.ts', '');
    put('dist/src/a/b.js', '');
    for (const folder of ['src', 'src/a']) utimesSync(join(root, folder), past, past);
  });

  it('is needed without the mark of a complete build', () => {
    expect(needsBuild(root)).toBe(true);
    put('dist/.built', '', later);
    expect(needsBuild(root)).toBe(false);
  });

  it('is needed after a change and after the removal of a file', () => {
    put('dist/.built', '', later);
    utimesSync(join(root, 'src/a/b.ts'), new Date(), new Date());
    expect(needsBuild(root)).toBe(true);
    unlinkSync(join(root, 'src/a/b.ts'));
    expect(needsBuild(root)).toBe(true);
  });
});

describe('the lock', () => {
  it('lets one process of a checkout work at a time', async () => {
    const script = join(root, 'work.mjs');
    put(
      'work.mjs',
      `import { appendFileSync } from 'node:fs';
       import { underLock } from ${JSON.stringify(join(projectRoot, 'test/support/npm-run.mjs'))};
       const note = (what) => appendFileSync(${JSON.stringify(join(root, 'notes'))}, what);
       await underLock(${JSON.stringify(root)}, () => { note('('); for (const end = Date.now() + 50; Date.now() < end;); note(')'); });`,
    );
    await Promise.all([1, 2, 3].map(async () => await runTarget(process.execPath, script, [])));
    expect(readFileSync(join(root, 'notes'), 'utf8')).toBe('()()()');
  });

  it('of a process that has ended counts for nothing', async () => {
    const ended = spawn(process.execPath, ['--version']);
    await new Promise((resolve) => ended.once('close', resolve));
    put('.einmal/npm-run.lock', String(ended.pid));
    let worked = false;
    await underLock(root, () => {
      worked = true;
    });
    expect(worked).toBe(true);
  });
});

describe('the target', () => {
  beforeEach(() => {
    put('package-lock.json', lockfile({}));
    put('node_modules/.package-lock.json', lockfile({}), later);
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'));
  });

  it('gets its arguments, and its exit code is handed on', async () => {
    put('target.ts', 'const code: string | undefined = process.argv[2]; process.exit(Number(code));');
    expect(await main(root, ['target.ts', '7'])).toBe(7);
  });

  it('that a signal ended gives 128 and the number of the signal', async () => {
    put('target.ts', `process.kill(process.pid, 'SIGKILL');`);
    expect(await main(root, ['target.ts'])).toBe(137);
    expect(exitCodeOf(null, 'SIGTERM')).toBe(143);
    expect(exitCodeOf(0, null)).toBe(0);
  });

  it('is sent the signals that we get', async () => {
    put(
      'target.mjs',
      `process.on('SIGTERM', () => process.exit(9)); process.stdout.write('up'); setInterval(() => {}, 1000);`,
    );
    const script = `import { runTarget } from ${JSON.stringify(join(projectRoot, 'test/support/npm-run.mjs'))};
      process.exit(await runTarget(process.execPath, ${JSON.stringify(join(root, 'target.mjs'))}, []));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.once('data', () => child.kill('SIGTERM'));
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(9);
  });

  it('is asked to stop when npm has ended, which hands signals to a shell only', async () => {
    put(
      'target.mjs',
      `import { writeFileSync } from 'node:fs';
       process.on('SIGTERM', () => { writeFileSync('stopped', ''); process.exit(0); });
       process.stdout.write('up'); setInterval(() => {}, 1000);`,
    );
    put('package.json', JSON.stringify({ scripts: { one: 'node run.mjs; true' } }));
    put(
      'run.mjs',
      `import { runTarget } from ${JSON.stringify(join(projectRoot, 'test/support/npm-run.mjs'))};
       process.exit(await runTarget(process.execPath, 'target.mjs', []));`,
    );
    const npm = spawn('npm', ['run', '-s', 'one'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    npm.stdout.once('data', () => npm.kill('SIGTERM'));
    const stopped = await pollUntil(() => (existsSync(join(root, 'stopped')) ? 'stopped' : null), {
      deadlineMs: 20_000,
    });
    expect(stopped).toBe('stopped');
  }, 30_000);
});
