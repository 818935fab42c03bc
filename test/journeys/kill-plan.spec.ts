import { describe, expect, it } from 'vitest';
import { ALL_ROLES } from '../support/service.ts';
import { planKills } from './kill-plan.ts';

describe('a plan of kills', () => {
  it('is repeated by its seed', () => {
    expect(planKills(20, 7)).toEqual(planKills(20, 7));
    expect(planKills(20, 7)).not.toEqual(planKills(20, 8));
  });

  it.each([1, 2, 3, 4, 5])('spreads the kills over the whole run and over all roles (seed %i)', (seed) => {
    const plan = planKills(20, seed);
    expect(new Set(plan.map(({ role }) => role))).toEqual(new Set(ALL_ROLES));
    expect(plan.map(({ at }) => Math.floor(at * 20))).toEqual(plan.map((_, index) => index));
  });

  it.each([1, 2, 3, 4, 5])('hits whose work it is in each stage, also when there are few (seed %i)', (seed) => {
    const roles = planKills(4, seed).map(({ role }) => role);
    expect(roles).toEqual(expect.arrayContaining(['consumer', 'maintenance', 'dispatcher']));
  });
});
