import { describe, expect, it } from 'vitest';
import { gateAt, onReach, reach } from './signal.ts';

describe('reach', () => {
  it('does nothing and makes no promise while nobody listens', () => {
    expect(reach('a.b')).toBeUndefined();
    const remove = onReach('a.b', () => undefined);
    expect(reach('a.c')).toBeUndefined();
    expect(reach('a.b')).toBeInstanceOf(Promise);
    remove();
    remove();
    expect(reach('a.b')).toBeUndefined();
  });

  it('gives every listener the context and throws what a listener throws', async () => {
    const seen: unknown[] = [];
    const first = onReach('a.b', (context) => void seen.push(context));
    await reach('a.b', { claimNumber: 3n });
    await reach('a.b');
    expect(seen).toEqual([{ claimNumber: 3n }, {}]);
    const second = onReach('a.b', () => {
      throw new Error('injected');
    });
    await expect(reach('a.b')).rejects.toThrow('injected');
    first();
    second();
  });
});

describe('gateAt', () => {
  it('holds one caller until it is opened and lets the others pass', async () => {
    const gate = gateAt('a.b', ({ id }) => id === 2);
    let through = false;
    await reach('a.b', { id: 1 });
    const held = Promise.resolve(reach('a.b', { id: 2 })).then(() => (through = true));
    expect(await gate.reached).toEqual({ id: 2 });
    await reach('a.b', { id: 2 });
    expect(through).toBe(false);
    gate.open();
    await held;
    expect(through).toBe(true);
    expect(reach('a.b')).toBeUndefined();
  });

  it('throws the given error into the held caller', async () => {
    const gate = gateAt('a.b');
    const held = reach('a.b');
    await gate.reached;
    gate.open(new Error('lost'));
    await expect(held).rejects.toThrow('lost');
  });

  it('opens when disposed', async () => {
    let held: Promise<void> | undefined;
    {
      using gate = gateAt('a.b');
      held = reach('a.b');
      await gate.reached;
    }
    await expect(held).resolves.toBeUndefined();
  });
});
