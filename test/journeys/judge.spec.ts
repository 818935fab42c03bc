import { describe, expect, it } from 'vitest';
import type { OperationState } from '../../src/operations/operation.states.ts';
import { judge, mailsPerSecond, type Evidence } from './judge.ts';

const operation = (name: string, state: OperationState) => ({
  operationId: name,
  operationKey: `key-${name}`,
  state,
  reason: null,
  addressKey: `${name}@example.org`,
});
const mail = (name: string, at = 0, recipient = `${name}@example.org`) => ({
  recipient,
  messageId: `<${name}@einmal.example>`,
  at,
});
const evidence = (parts: Partial<Evidence>): Evidence => ({
  expected: new Map((parts.operations ?? []).map((each) => [each.addressKey, 'sub_1'])),
  operations: [],
  arrivals: [],
  optOuts: [],
  senderDomain: 'einmal.example',
  ...parts,
});
const faults = (parts: Partial<Evidence>) => {
  const { lost, doubled, disagreements } = judge(evidence(parts));
  return { lost: lost.length, doubled: doubled.length, disagreements: disagreements.length };
};
const CLEAN = { lost: 0, doubled: 0, disagreements: 0 };

describe('the judge', () => {
  it('finds nothing where each accepted one has a mail, and says which unknown ones arrived', () => {
    const operations = [operation('a', 'accepted'), operation('b', 'unknown'), operation('c', 'unknown')];
    const parts = { operations: [...operations, operation('d', 'suppressed')], arrivals: [mail('a'), mail('c')] };
    expect(faults(parts)).toEqual(CLEAN);
    expect(judge(evidence(parts))).toMatchObject({
      byState: { accepted: 1, unknown: 2, suppressed: 1 },
      mailsByState: { accepted: 1, unknown: 1, suppressed: 0 },
      unknown: [
        { operationKey: 'key-b', arrived: false },
        { operationKey: 'key-c', arrived: true },
      ],
    });
  });

  it.each(['accepted', 'queued', 'claimed', 'calling'] as const)('calls %s without a mail lost', (state) => {
    expect(faults({ operations: [operation('a', state)] })).toEqual({ ...CLEAN, lost: 1 });
  });

  it('calls one of the audience without an operation lost', () => {
    expect(faults({ expected: new Map([['a@example.org', 'sub_1']]) })).toEqual({ ...CLEAN, lost: 1 });
  });

  it.each(['accepted', 'unknown'] as const)('calls two mails of one %s operation doubled', (state) => {
    const parts = { operations: [operation('a', state)], arrivals: [mail('a'), mail('a')] };
    expect(faults(parts)).toEqual({ ...CLEAN, doubled: 1 });
  });

  it('calls two operations that reach one address doubled, whatever its case', () => {
    const operations = [operation('a', 'accepted'), operation('b', 'accepted')];
    const arrivals = [mail('a'), mail('b', 0, 'A@EXAMPLE.org')];
    expect(faults({ operations, arrivals })).toEqual({ ...CLEAN, doubled: 1 });
  });

  it.each(['suppressed', 'rejected', 'cancelled', 'queued'] as const)('objects to a mail of a %s one', (state) => {
    expect(faults({ operations: [operation('a', state)], arrivals: [mail('a')] })).toEqual({
      ...CLEAN,
      disagreements: 1,
    });
  });

  it('objects to mails of no operation, to other addresses, and to operations outside the audience', () => {
    expect(faults({ arrivals: [mail('x')] })).toEqual({ ...CLEAN, disagreements: 2 });
    const operations = [operation('a', 'accepted')];
    const arrivals = [mail('a', 0, 'other@example.org')];
    expect(faults({ operations, arrivals })).toEqual({ ...CLEAN, disagreements: 1 });
    expect(faults({ operations, arrivals: [mail('a')], expected: new Map() })).toEqual({ ...CLEAN, disagreements: 1 });
  });

  it('objects to a mail after the opt-out, and not to one whose call had begun', () => {
    const operations = [operation('a', 'accepted')];
    const optOuts = [{ addressKey: 'a@example.org', inForceSince: new Date(1_000), graceMs: 500 }];
    expect(faults({ operations, optOuts, arrivals: [mail('a', 1_400)] })).toEqual(CLEAN);
    expect(faults({ operations, optOuts, arrivals: [mail('a', 1_600)] })).toEqual({ ...CLEAN, disagreements: 1 });
  });
});

describe('the rate', () => {
  it('leaves out the pauses', () => {
    expect(mailsPerSecond([0, 100, 200, 30_000, 30_100].map((at) => mail('a', at)))).toBe(17);
    expect(mailsPerSecond([])).toBe(0);
  });
});
