import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { campaignContentHash, payloadHash } from './payload-hash.ts';

const operation = { kind: 'email', request: { to: 'ada@example.org', subject: 'Hi', text: 'x' } } as const;

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;

describe('payloadHash', () => {
  it('is SHA-256 over the canonical form of the four members', () => {
    expect(payloadHash(operation)).toBe(
      sha256('{"kind":"email","request":{"subject":"Hi","text":"x","to":"ada@example.org"}}'),
    );
    expect(payloadHash({ ...operation, class: 'marketing', approval: { object: 'o', revision: 2 } })).toBe(
      sha256(
        '{"approval":{"object":"o","revision":2},"class":"marketing","kind":"email",' +
          '"request":{"subject":"Hi","text":"x","to":"ada@example.org"}}',
      ),
    );
  });

  it('keeps absent members absent', () => {
    expect(payloadHash({ ...operation, class: undefined, approval: undefined })).toBe(payloadHash(operation));
    expect(payloadHash({ ...operation, class: 'transactional' })).not.toBe(payloadHash(operation));
  });

  it('covers nothing of the transport', () => {
    const received = { ...operation, operationKey: 'k', priority: 9, deadline: '2026-12-01T00:00:00Z' };
    expect(payloadHash(received)).toBe(payloadHash(operation));
  });

  it('hashes text that RFC 8785 has no form for, and tells it from its escape', () => {
    const lone = payloadHash({ kind: 'email', request: { text: '\ud800\u0000' } });
    const spelt = payloadHash({ kind: 'email', request: { text: String.raw`\ud800\u0000` } });
    expect(lone).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(lone).not.toBe(spelt);
  });
});

describe('campaignContentHash', () => {
  const otherContent = { subject: 'Ho' };
  const data = { campaignId: 'cmp_42', revision: 3, subject: 'Hi', audience: { lists: ['a'] } };

  it('leaves out the name of the revision and nothing else', () => {
    expect(campaignContentHash(data)).toBe(sha256('{"audience":{"lists":["a"]},"subject":"Hi"}'));
    expect(campaignContentHash({ ...data, campaignId: 'other', revision: 4 })).toBe(campaignContentHash(data));
    expect(campaignContentHash({ ...data, ...otherContent })).not.toBe(campaignContentHash(data));
  });
});
