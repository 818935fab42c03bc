import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { armFaults, FAULT_EXIT_CODE, parseFaults } from './fault.ts';
import { reach } from './signal.ts';

const inChild = (action: string) => {
  const script = `
    import { armFaults, parseFaults } from ${JSON.stringify(new URL('fault.ts', import.meta.url).href)};
    import { reach } from ${JSON.stringify(new URL('signal.ts', import.meta.url).href)};
    armFaults(parseFaults('a.b:${action}:2'));
    await reach('a.b');
    console.log('first passed');
    await reach('a.b');
    console.log('second passed');`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
};

describe('parseFaults', () => {
  it('reads point, action and count', () => {
    expect(parseFaults('dispatch.after-claim:exit, inbox.before-commit:throw:3,a.b:hang:*')).toEqual([
      { point: 'dispatch.after-claim', action: 'exit', nth: 1 },
      { point: 'inbox.before-commit', action: 'throw', nth: 3 },
      { point: 'a.b', action: 'hang', nth: null },
    ]);
  });

  it.each(['', 'a.b', 'a.b:', 'a.b:explode', 'a.b:exit:0', 'a.b:exit:x', 'a.b:exit:1:2', 'a b:exit', 'a.b:exit,'])(
    'refuses %j',
    (text) => expect(parseFaults(text)).toBeNull(),
  );
});

describe('armFaults', () => {
  it('throws at the nth time only', async () => {
    const disarm = armFaults([{ point: 'a.b', action: 'throw', nth: 2 }]);
    await reach('a.b');
    await expect(reach('a.b')).rejects.toMatchObject({ code: 'injected-fault', retryable: true });
    await reach('a.b');
    disarm();
    expect(reach('a.b')).toBeUndefined();
  });

  it('throws every time', async () => {
    const disarm = armFaults([{ point: 'a.b', action: 'throw', nth: null }]);
    await expect(reach('a.b')).rejects.toThrow('a.b');
    await expect(reach('a.b')).rejects.toThrow('a.b');
    disarm();
  });

  it.each([
    ['exit', FAULT_EXIT_CODE, null],
    ['kill', null, 'SIGKILL'],
    // Nothing else keeps this child alive, so Node ends it with its code for an await that never settles.
    ['hang', 13, null],
  ])('ends or holds a process by %s', (action, status, signal) => {
    const child = inChild(action);
    expect(child.stdout).toBe('first passed\n');
    expect({ status: child.status, signal: child.signal }).toEqual({ status, signal });
  });
});
