import { describe, expect, it } from 'vitest';
import { parseMailbox } from './mailbox.ts';

describe('parseMailbox', () => {
  it.each([
    ['Jane Doe <Jane@B.org>', 'Jane Doe', 'Jane@b.org'],
    ['"Doe, Inc." <jane@b.org>', 'Doe, Inc.', 'jane@b.org'],
    ['Jörg Ä <jane@bücher.example>', 'Jörg Ä', 'jane@xn--bcher-kva.example'],
    ['<jane@b.org>', undefined, 'jane@b.org'],
    ['jane@b.org', undefined, 'jane@b.org'],
    ['N <"x@evil.example x"@good.example>', 'N', '"x@evil.example x"@good.example'],
    ['other@evil.example <jane@b.org>', 'other@evil.example', 'jane@b.org'],
  ])('takes %s', (input, name, send) => {
    const parsed = parseMailbox(input);
    expect(parsed.ok && { name: parsed.name, send: parsed.address.send }).toEqual({ name, send });
  });

  it.each([
    'Jane <a@b.org>, c@d.org',
    'c@d.org, Jane <a@b.org>',
    'Jane <a@b.org> <c@d.org>',
    'team: a@b.org, c@d.org;',
    'team: Jane <a@b.org>',
    'Jane\r\nBcc: x@y.org <a@b.org>',
    'Jane\0 <a@b.org>',
    'Jane <a@b>',
    'Jane <>',
    'Jane',
    '',
    `${'x'.repeat(201)} <a@b.org>`,
  ])('refuses %j without repeating it', (input) => {
    const parsed = parseMailbox(input);
    expect(parsed.ok).toBe(false);
    expect(parsed.ok || parsed.rule).not.toContain('@b.org');
  });
});
