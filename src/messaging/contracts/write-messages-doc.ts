/**
 * Writes docs/messages.md. With `--check` it writes nothing and ends with 1 when the file is not what the contracts say.
 * Run natively: `node src/messaging/contracts/write-messages-doc.ts [--check]`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { messagesDoc } from './messages-doc.ts';

const file = fileURLToPath(new URL('../../../docs/messages.md', import.meta.url));
const doc = messagesDoc();

if (process.argv.includes('--check')) {
  if (existing() !== doc) {
    process.stderr.write(
      'docs/messages.md differs from the contracts; run: node src/messaging/contracts/write-messages-doc.ts\n',
    );
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, doc);
}

function existing(): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
