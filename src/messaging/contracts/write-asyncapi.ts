/**
 * Writes docs/asyncapi.json. With `--check` it writes nothing and ends with 1 when the file is not what the contracts say.
 * Run natively: `node src/messaging/contracts/write-asyncapi.ts [--check]`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { asyncApiDocument } from './asyncapi.ts';

const file = fileURLToPath(new URL('../../../docs/asyncapi.json', import.meta.url));
const text = `${JSON.stringify(asyncApiDocument(), null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (existing() !== text) {
    process.stderr.write(
      'docs/asyncapi.json differs from the contracts; run: node src/messaging/contracts/write-asyncapi.ts\n',
    );
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, text);
}

function existing(): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
