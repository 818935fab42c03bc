import type { DispatchRig } from '../../support/dispatch-rig.ts';
import type { AnyStatement, GuardedStatement } from './guard-case.ts';

async function stop(rig: DispatchRig, statement: AnyStatement, probing: boolean): Promise<unknown> {
  const said = { provider: 'main', code: 'http-401', diagnostic: 'no', pause_seconds: 60, probing };
  await statement.run(rig.dataSource, said);
  await statement.run(rig.dataSource, said);
  return (await rig.query('SELECT stops FROM provider_stops'))[0];
}

export const stopProvider: GuardedStatement = {
  file: 'dispatch/stop-provider.sql',
  cases: [
    {
      guard: 'refusals of one moment count once',
      cuts: [['\nWHERE :probing OR p.until <= now()', '\nWHERE :probing OR true']],
      seen: { stops: 1 },
      scenario: async (rig, statement) => await stop(rig, statement, false),
    },
    {
      guard: 'a refused try counts',
      cuts: [[':probing OR ', ':probing AND false OR ']],
      seen: { stops: 2 },
      scenario: async (rig, statement) => await stop(rig, statement, true),
    },
  ],
};

async function probe(rig: DispatchRig, statement: AnyStatement): Promise<unknown> {
  await rig.query(`INSERT INTO provider_stops (provider, code, diagnostic, until) VALUES ('main', 'x', 'x', now())`);
  const first = await statement.run(rig.dataSource, { provider: 'main', seconds: 60 });
  const second = await statement.run(rig.dataSource, { provider: 'main', seconds: 60 });
  return [first.length, second.length];
}

export const probeProvider: GuardedStatement = {
  file: 'dispatch/probe-provider.sql',
  cases: [{ guard: 'one try at a time', cuts: [[' AND until <= now()', '']], seen: [1, 0], scenario: probe }],
};
