import { valueAt } from '../wire/answer.ts';

/** Names and indexes from the root. */
export type JsonPath = readonly (string | number)[];

const STEP = /\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d{1,6})\]/y;

/** `$.data.id` or `$.items[0].id` (the part of RFC 9535 that names one place); null for anything else. */
export function parseJsonPath(text: string): JsonPath | null {
  if (!text.startsWith('$') || text.length === 1) return null;
  const steps: (string | number)[] = [];
  let at = 1;
  while (at < text.length) {
    STEP.lastIndex = at;
    const step = STEP.exec(text);
    if (step === null) return null;
    steps.push(step[1] ?? Number(step[2]));
    at = STEP.lastIndex;
  }
  return steps;
}

export function readJsonPath(value: unknown, path: JsonPath): unknown {
  return valueAt(value, ...path);
}
