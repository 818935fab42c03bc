import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './stack/folders.ts';

/**
 * `npm test` and `npm run verify`: everything that must be true of this tree. All checks run, whatever fails before them; the
 * last line counts them: `N passed, N failed`.
 */
interface Check {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

const bin = (name: string): string => join(projectRoot, 'node_modules', '.bin', name);

const CHECKS: readonly Check[] = [
  { name: 'format', command: [bin('prettier'), '--check', '--log-level', 'warn', '.'] },
  { name: 'lint', command: [bin('oxlint'), '--deny-warnings'] },
  { name: 'types', command: [bin('tsc'), '--noEmit', '-p', 'tsconfig.json'] },
  {
    name: 'boundaries',
    command: [bin('depcruise'), 'src', 'migrations', 'test', '--config', '.dependency-cruiser.cjs'],
  },
  { name: 'docs/messages.md', command: [process.execPath, 'src/messaging/contracts/write-messages-doc.ts', '--check'] },
  { name: 'docs/openapi.json', command: [process.execPath, 'src/api/openapi/write-openapi.ts', '--check'] },
  { name: 'docs/asyncapi.json', command: [process.execPath, 'src/messaging/contracts/write-asyncapi.ts', '--check'] },
];
const RESULTS = join(projectRoot, '.einmal', 'test-results.json');

let passed = 0;
let failed = 0;
for (const { name, command } of CHECKS) {
  const ok = (await run(command)) === 0;
  console.log(`${ok ? 'passed' : 'FAILED'}: ${name}`);
  if (ok) passed += 1;
  else failed += 1;
}

mkdirSync(join(projectRoot, '.einmal'), { recursive: true });
rmSync(RESULTS, { force: true });
const testsOk = (await run([bin('vitest'), 'run', ...process.argv.slice(2)])) === 0;
const counted = countsOf(RESULTS);
passed += counted.passed;
// A run that ended badly without a failed test (a hook, a crash, no result) is a failure all the same.
failed += counted.failed > 0 || testsOk ? counted.failed : 1;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && counted.passed > 0 ? 0 : 1;

async function run([file, ...args]: readonly [string, ...string[]]): Promise<number> {
  const child = spawn(file, args, { cwd: projectRoot, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

function countsOf(file: string): { passed: number; failed: number } {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
    };
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return { passed: 0, failed: 0 };
  }
}
