// What every npm script of this project starts with. Plain JavaScript for Node 20 and nothing imported: it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const usage = 'usage: node test/support/npm-run.mjs [--build] <target.ts|target.js> [arguments]';
const lowestNode = 24;
const lockHeldAtMostMs = 15 * 60_000;
const buildInputs = ['src', 'migrations', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];

/** Something a person has to put right; shown without a stack. */
export class CannotRun extends Error {}

/**
 * @param {readonly string[]} words what follows the script's own name
 * @returns {{ build: boolean, target: string, rest: string[] }}
 */
export function parseWords(words) {
  const build = words[0] === '--build';
  const [target, ...rest] = build ? words.slice(1) : words;
  if (target === undefined || target.startsWith('-')) throw new CannotRun(usage);
  return { build, target, rest };
}

/**
 * True when node_modules is missing, its installation was cut short, or it holds other versions than the lockfile asks for. A lockfile
 * that is merely younger (a checkout, an `npm install`) is compared by content.
 */
export function needsInstall(root) {
  const wanted = join(root, 'package-lock.json');
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return true;
  if (statSync(wanted).mtimeMs <= statSync(installed).mtimeMs) return false;
  if (!holdsWhatIsWanted(readPackages(wanted), readPackages(installed))) return true;
  const now = new Date();
  utimesSync(installed, now, now);
  return false;
}

function readPackages(lockfile) {
  return JSON.parse(readFileSync(lockfile, 'utf8')).packages ?? {};
}

/** Packages for other systems are in the lockfile as optional ones and rightly not installed. */
function holdsWhatIsWanted(wanted, installed) {
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** True when dist is missing, its build was cut short, or a source, migration or setting is younger than the start of its build. */
export function needsBuild(root) {
  const stamp = join(root, 'dist', '.built');
  if (!existsSync(stamp)) return true;
  return youngest(buildInputs.map((name) => join(root, name))) > statSync(stamp).mtimeMs;
}

/** Folders count too: theirs changes when a file goes. */
function youngest(paths) {
  return Math.max(0, ...paths.filter((path) => existsSync(path)).map((path) => youngestIn(path)));
}

function youngestIn(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(found.mtimeMs, youngest(readdirSync(path).map((name) => join(path, name))));
}

/**
 * Runs `work` while no other process of this checkout does so. A lock whose holder has ended counts for nothing.
 * @param {string} root
 * @param {() => void} work
 */
export async function underLock(root, work) {
  const lock = join(root, '.einmal', 'npm-run.lock');
  mkdirSync(dirname(lock), { recursive: true });
  const end = Date.now() + lockHeldAtMostMs;
  while (!tryLock(lock)) {
    if (Date.now() > end)
      throw new CannotRun(`${lock} is held by another process for too long; remove it if that is not so.`);
    await delay(100);
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (holderHasEnded(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function holderHasEnded(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    // Zero: created and not yet written.
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function install(root) {
  console.error('npm-run: installing what the lockfile names (npm ci)');
  const npm = process.env.npm_execpath;
  const [command, parameters] = npm?.endsWith('.js') ? [process.execPath, [npm, 'ci']] : ['npm', ['ci']];
  runQuietly(root, command, parameters, 'npm ci');
}

function build(root) {
  console.error('npm-run: building');
  const begin = new Date();
  runQuietly(root, chooseNode(root), [join(root, 'node_modules', '.bin', 'nest'), 'build'], 'the build');
  const stamp = join(root, 'dist', '.built');
  writeFileSync(stamp, '');
  utimesSync(stamp, begin, begin);
}

function runQuietly(root, command, parameters, what) {
  const { status, stdout, stderr, error } = spawnSync(command, parameters, {
    cwd: root,
    // npm hands its own --silent on, and then the reason of a failure is lost.
    env: { ...process.env, npm_config_loglevel: 'notice' },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status === 0) return;
  throw new CannotRun(`${what} failed.\n${[error?.message, stdout, stderr].filter(Boolean).join('\n').trim()}`);
}

/** The Node 24 that npm installed for this project, else the one we run on if it is as new. */
export function chooseNode(root) {
  const own = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(own) && spawnSync(own, ['--version']).status === 0) return own;
  if (Number(process.versions.node.split('.')[0]) >= lowestNode) return process.execPath;
  throw new CannotRun(
    `Node ${lowestNode} is needed and this is ${process.versions.node}. The npm package "node" brings it, but its install script did not run:\n` +
      `allow it (npm rebuild node), or install Node ${lowestNode} yourself.`,
  );
}

/** As a shell counts: a process ended by a signal has 128 + its number. */
export function exitCodeOf(code, signal) {
  return signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0);
}

/**
 * npm hands a signal to the shell that it starts a script with; a shell dies of it and tells nobody. So the target is asked to stop when
 * our parent is gone. Scripts begin with `exec`, so that there is no shell in between and npm's own death is seen too.
 */
function whenParentEnds(act) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    act();
  }, 250);
  watch.unref();
}

/** @returns {Promise<number>} exit code of the target */
export function runTarget(node, target, rest, environment = process.env) {
  return new Promise((done, fail) => {
    // kafkajs sets timers to negative times, about which Node 24 warns each user of this project in vain.
    const child = spawn(node, ['--disable-warning=TimeoutNegativeWarning', target, ...rest], {
      stdio: 'inherit',
      env: environment,
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    if (environment.npm_lifecycle_event !== undefined) whenParentEnds(() => child.kill('SIGTERM'));
    child.once('error', fail);
    child.once('exit', (code, signal) => done(exitCodeOf(code, signal)));
  });
}

/** @returns {Promise<number>} exit code */
export async function main(root, words) {
  try {
    const { build: mustBuild, target, rest } = parseWords(words);
    if (needsInstall(root)) await underLock(root, () => needsInstall(root) && install(root));
    if (mustBuild && needsBuild(root)) await underLock(root, () => needsBuild(root) && build(root));
    return await runTarget(chooseNode(root), resolve(root, target), rest);
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error;
    console.error(`npm-run: ${error.message}`);
    return 1;
  }
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(here)) {
  process.exitCode = await main(resolve(dirname(here), '../..'), process.argv.slice(2));
}
