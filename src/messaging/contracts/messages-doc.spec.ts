import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { deadLetterReasons } from '../dead-letter-reason.ts';
import { messagesDoc } from './messages-doc.ts';
import { contracts } from './registry.ts';

const cells = (line: string): number => line.replaceAll(String.raw`\|`, '').split('|').length;

describe('docs/messages.md', () => {
  const doc = messagesDoc();

  it('says what the contracts say', () => {
    const file = readFileSync(new URL('../../../docs/messages.md', import.meta.url), 'utf8');
    // On a difference run: node src/messaging/contracts/write-messages-doc.ts
    expect(file === doc).toBe(true);
  });

  it('names every type once and every reason', () => {
    for (const type of contracts.keys()) {
      expect(doc.split(`### ${type}\n`)).toHaveLength(2);
    }
    for (const reason of Object.keys(deadLetterReasons)) {
      expect(doc).toContain(`| \`${reason}\` |`);
    }
  });

  it('has tables whose rows have as many cells as their heads', () => {
    const tables = doc
      .trimEnd()
      .split('\n\n')
      .filter((block) => block.startsWith('|'));
    for (const table of tables) {
      const [head = '', ...rows] = table.split('\n');
      expect(rows.filter((row) => cells(row) !== cells(head))).toEqual([]);
    }
  });
});
