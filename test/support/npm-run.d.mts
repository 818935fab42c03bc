export class CannotRun extends Error {}
export function parseWords(words: readonly string[]): { build: boolean; target: string; rest: string[] };
export function needsInstall(root: string): boolean;
export function needsBuild(root: string): boolean;
export function underLock(root: string, work: () => void): Promise<void>;
export function chooseNode(root: string): string;
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number;
export function runTarget(
  node: string,
  target: string,
  rest: readonly string[],
  environment?: NodeJS.ProcessEnv,
): Promise<number>;
export function main(root: string, words: readonly string[]): Promise<number>;
