import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCsv } from './csv.ts';
import { expectedAudience, makeRecipients, readRecipients, writeRecipients } from './recipients.ts';

describe('the reader', () => {
  it('takes quotes, commas and line ends inside of quotes, and both line ends', () => {
    expect(parseCsv('a,b\r\n"x, ""y""","1\n2"\n,\r\n')).toEqual([
      ['a', 'b'],
      ['x, "y"', '1\n2'],
      ['', ''],
    ]);
  });

  it('keeps an empty first field and an empty last one', () => {
    expect(parseCsv(',a,\n')).toEqual([['', 'a', '']]);
  });

  it.each(['a"b,c\n', '"a"b\n', '"a\n'])('refuses a quote out of place: %j', (text) => {
    expect(() => parseCsv(text)).toThrow('not CSV');
  });
});

describe('the recipients', () => {
  it('are read as they were written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'einmal-csv-'));
    const file = join(folder, 'recipients.csv');
    await writeRecipients(file, 500);
    const read = await readRecipients(file);
    await rm(folder, { recursive: true });
    expect(read).toEqual(makeRecipients(500));
  });

  it('hold twins, which are one address, and people whom the campaign must not reach', () => {
    const audience = [...expectedAudience(makeRecipients(1_000)).keys()];
    expect(audience).toHaveLength(1_000 - 3 - 1 - 4 - 3);
    expect(audience).toContain('info@xn--bcher-kva.example');
    expect(audience).toContain('"john smith"@example.org');
    expect(audience).toContain('grace+shop@example.org');
    expect(audience).toContain('vip@example.org');
    expect(audience).not.toContain('complained@example.net');
    expect(audience).not.toContain('left@example.net');
  });
});
