/** What a journey tells while it runs: lines, and one line of progress below them. */
export interface Narrator {
  say(label: string, text: string): void;
  /** On a terminal drawn over the one before; elsewhere a line every few seconds. */
  progress(text: string): void;
  /** Text as it is, below everything. */
  print(text: string): void;
}

const LABEL_WIDTH = 10;
/** Of a terminal that does not say how wide it is. */
const USUAL_COLUMNS = 100;
const EVERY_MS = 3_000;
const ERASE_LINE = '\r\u{1b}[2K';

export function createNarrator(stream: NodeJS.WriteStream): Narrator {
  let drawn = false;
  let toldAt = -Infinity;
  const line = (text: string): void => {
    stream.write(`${drawn ? ERASE_LINE : ''}${text}\n`);
    drawn = false;
  };
  return {
    say: (label, text) => line(`  ${label.padEnd(LABEL_WIDTH)} ${text}`),
    print: line,
    progress: (text) => {
      if (stream.isTTY) {
        // A line that wraps could not be drawn over.
        stream.write(`${ERASE_LINE}  ${text}`.slice(0, ERASE_LINE.length + (stream.columns || USUAL_COLUMNS) - 1));
        drawn = true;
      } else if (performance.now() - toldAt >= EVERY_MS) {
        toldAt = performance.now();
        line(`  ${text}`);
      }
    },
  };
}

export const silentNarrator: Narrator = { say: () => {}, progress: () => {}, print: () => {} };

const BAR_WIDTH = 16;

/** @param share 0 to 1 */
export function bar(share: number): string {
  const full = Math.max(0, Math.min(BAR_WIDTH, Math.floor(share * BAR_WIDTH)));
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
