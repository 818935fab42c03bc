import { describe, expect, it } from 'vitest';
import type { Provider } from '../providers/provider.port.ts';
import { ProviderLane } from './provider-lane.ts';

const CALLS = 2;
/** Four for each call at a time. */
const MOST_OPEN = 8;

function lane(perCall = 1): ProviderLane {
  const provider: Provider = {
    name: 'main',
    concurrency: CALLS,
    abilities: {
      key: { kind: 'none' },
      lookup: { kind: 'none' },
      receipt: { kind: 'none' },
      batch: perCall === 1 ? { kind: 'none' } : { kind: 'per-message', max: perCall, maxBytes: 1 },
      limits: { maxBytes: 1 },
    },
    account: 'account',
    shape: null,
    prepare: () => ({ ok: false, rule: 'not called here' }),
    close: () => Promise.resolve(),
  };
  return new ProviderLane(provider, { claimBatch: 20, claimBatchMax: 500 });
}

/** Whether a call was given at once. */
async function settledAtOnce(entered: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void entered.then(() => (settled = true));
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  return settled;
}

async function callAndAnswer(provider: ProviderLane): Promise<void> {
  const leaveCall = await provider.enterCall(false);
  provider.answered();
  leaveCall?.();
}

describe('the calls of a lane', () => {
  it('are as many at a time as the provider takes', async () => {
    const provider = lane();
    const first = await provider.enterCall(false);
    await provider.enterCall(false);
    const third = provider.enterCall(false);
    expect(await settledAtOnce(third)).toBe(false);
    first?.();
    expect(await settledAtOnce(third)).toBe(true);
  });

  it('stop while too many answers wait to be stored: that is what a kill leaves unknown at most', async () => {
    const provider = lane();
    for (let count = 0; count < MOST_OPEN; count++) await callAndAnswer(provider);
    const next = provider.enterCall(false);
    expect(await settledAtOnce(next)).toBe(false);
    provider.stored();
    expect(await settledAtOnce(next)).toBe(true);
  });

  it('stop in the same way where each carries several: no more are open than all calls hold four times', async () => {
    const perCall = 10;
    const provider = lane(perCall);
    const callAndAnswerTen = async (): Promise<void> => {
      const leaveCall = await provider.enterCall(false);
      provider.answered(perCall);
      leaveCall?.();
    };
    for (let count = 0; count < MOST_OPEN; count++) await callAndAnswerTen();
    const next = provider.enterCall(false);
    for (let stored = 0; stored < perCall - 1; stored++) provider.stored();
    expect(await settledAtOnce(next)).toBe(false);
    provider.stored();
    expect(await settledAtOnce(next)).toBe(true);
  });

  it('go to a single operation before all that campaigns have claimed ahead', async () => {
    const provider = lane();
    const leaveCall = await provider.enterCall(false);
    await provider.enterCall(false);
    const bulk = provider.enterCall(false);
    const urgent = provider.enterCall(true);
    leaveCall?.();
    expect(await settledAtOnce(urgent)).toBe(true);
    expect(await settledAtOnce(bulk)).toBe(false);
  });

  it('are not given any more to those who are let go', async () => {
    const provider = lane();
    await provider.enterCall(false);
    await provider.enterCall(false);
    const waiting = provider.enterCall(false);
    provider.dismissWaiting();
    expect(await waiting).toBeNull();
  });
});
