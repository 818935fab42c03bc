import { readFileSync } from 'node:fs';
import type * as Statements from '../../src/database/statement.ts';

interface Cut {
  readonly guard: string;
  readonly instead: string;
}

const cuts = new Map<string, Cut>();

/**
 * The module `src/database/statement.ts` with statements that can lose a guard while a test runs. A spec takes it by
 * `vi.mock('.../statement.ts', async (original) => cuttable(await original()))`.
 */
export function cuttable(actual: typeof Statements): typeof Statements {
  return {
    ...actual,
    loadStatement: <P extends object, R>(moduleUrl: string, fileName: string): Statements.Statement<P, R> => {
      const whole = actual.loadStatement<P, R>(moduleUrl, fileName);
      return {
        ...whole,
        run: async (executor, parameters) => {
          const cut = cuts.get(fileName);
          if (!cut) return await whole.run(executor, parameters);
          const text = readFileSync(new URL(fileName, moduleUrl), 'utf8');
          if (!text.includes(cut.guard)) throw new Error(`${fileName} does not hold the guard to cut: ${cut.guard}`);
          const without = text.replace(cut.guard, () => cut.instead);
          return await actual.defineStatement<P, R>(fileName, without).run(executor, parameters);
        },
      };
    },
  };
}

/**
 * Until it is disposed of, the statement of the file runs without the guard. A test that shows the harm proves that the
 * test beside it would fail if the guard went.
 */
export function cutGuard(fileName: string, guard: string, instead = ''): Disposable {
  cuts.set(fileName, { guard, instead });
  return { [Symbol.dispose]: () => void cuts.delete(fileName) };
}
