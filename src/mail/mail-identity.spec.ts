import { describe, expect, it } from 'vitest';
import { mailIdentity } from './mail-identity.ts';

describe('mailIdentity', () => {
  it('is the same for each attempt and another for each operation', () => {
    const one = mailIdentity('0b7c2f3e-0000-5000-8000-000000000001', 'b.org');
    expect(one).toEqual(mailIdentity('0b7c2f3e-0000-5000-8000-000000000001', 'b.org'));
    expect(one.messageId).toBe('<0b7c2f3e-0000-5000-8000-000000000001@b.org>');
    expect(one.boundarySeed).toMatch(/^[0-9a-f]{32}$/);
    expect(mailIdentity('0b7c2f3e-0000-5000-8000-000000000002', 'b.org').boundarySeed).not.toBe(one.boundarySeed);
  });
});
