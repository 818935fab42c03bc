import { describe, expect, it } from 'vitest';
import { judgingWherePossible } from './judging-where-possible.ts';

/** As the driver reports it. */
const databaseError = (code: string): Error => Object.assign(new Error(code), { code, severity: 'ERROR' });

async function attempt(failure: Error | null) {
  const tried: boolean[] = [];
  const told: string[] = [];
  const result = await judgingWherePossible(
    async (judge) => {
      tried.push(judge);
      if (judge && failure) throw failure;
      return await Promise.resolve('done');
    },
    (code) => told.push(code),
  ).catch((error: unknown) => error);
  return { tried, told, result };
}

describe('a page that judges evidence', () => {
  it('is run once where nothing fails', async () => {
    expect(await attempt(null)).toEqual({ tried: [true], told: [], result: 'done' });
  });

  it('is run without judging where a row cannot be judged, and says so', async () => {
    expect(await attempt(databaseError('22021'))).toEqual({ tried: [true, false], told: ['22021'], result: 'done' });
  });

  it.each(['40001', '40P01', '57P01'])('fails as it is for %s, and nothing goes unjudged', async (code) => {
    const { tried, told, result } = await attempt(databaseError(code));
    expect({ tried, told }).toEqual({ tried: [true], told: [] });
    expect(result).toMatchObject({ code });
  });
});
