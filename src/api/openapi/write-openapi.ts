/**
 * Writes docs/openapi.json. With `--check` it writes nothing and ends with 1 when the file is not what the schemas say.
 * Run natively: `node src/api/openapi/write-openapi.ts [--check]`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { openApiDocument } from './document.ts';

const file = fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url));
const text = `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (existing() !== text) {
    process.stderr.write('docs/openapi.json differs from the schemas; run: node src/api/openapi/write-openapi.ts\n');
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
