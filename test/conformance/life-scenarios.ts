import { randomUUID } from 'node:crypto';
import { inconsistencies } from '../../src/providers/abilities.ts';
import type { PreparedCall, Shape } from '../../src/providers/provider.port.ts';
import { eventually } from '../support/eventually.ts';
import { bounded, checkSeen, prepare, releaseAll, withProvider } from './calls.ts';
import { FAULTS, type Fault } from './faults.ts';
import { IMPATIENT_MS, PATIENT_MS, type Scenario } from './notes.ts';
import { callOf, mailOf } from './outgoing.ts';
import type { Destination, Stand } from './stand.ts';

function always(): boolean {
  return true;
}

const ABILITIES: Scenario = {
  row: 'abilities',
  applies: always,
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (provider) => {
      const { abilities, account, shape } = provider;
      for (const wrong of inconsistencies(abilities)) notes.check(false, wrong);
      const { key } = abilities;
      notes.check(key.kind === stand.key, `key is ${key.kind}, not ${stand.key}`);
      notes.check((abilities.lookup.kind !== 'none') === stand.lookup, `lookup is ${abilities.lookup.kind}`);
      notes.check(
        (provider.lookup !== undefined) === stand.lookup,
        'lookup is declared and missing, or the other way round',
      );
      if (key.kind !== 'none') {
        notes.check(key.comparesPayload === stand.comparesPayload, `comparesPayload is ${key.comparesPayload}`);
        const longest = stand.keyWindowMs ?? Infinity;
        notes.check(key.windowMs <= longest, `the window of ${key.windowMs} ms is longer than the vendor's`);
      }
      notes.check(/^[0-9a-f]{32}$/.test(account), `account is no fingerprint: ${account}`);
      notes.check(!/sink-api-/.test(JSON.stringify(shape)), 'the shape shows a credential');
    });
  },
};

const OTHER_KIND: Scenario = {
  row: 'other kind',
  applies: (stand) => stand.name !== 'generic-reject' && stand.name !== 'generic-plain',
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (provider) => {
      const { kind } = stand.outgoing(randomUUID());
      const other = kind === 'email' ? callOf(randomUUID(), 'a') : mailOf(randomUUID(), 'a');
      const prepared = provider.prepare(other, provider.shape);
      notes.check(!prepared.ok, 'it takes what it cannot carry out');
    });
  },
};

function elsewhere(destination: Destination): Scenario {
  return {
    row: destination,
    applies: (stand) => stand.destinations.includes(destination),
    run: async (stand, notes) => {
      await withProvider(stand.open(destination), async (provider) => {
        const reference = randomUUID();
        const before = await stand.wire();
        const outcome = await prepare(provider, stand.outgoing(reference), notes).send(PATIENT_MS);
        notes.outcome = outcome.kind;
        notes.checkWords(outcome, outcome.kind);
        notes.check(outcome.kind === 'not-sent', `${outcome.kind} (${outcome.code}), not not-sent`);
        notes.check((await stand.wire()) === before, 'something was on the wire');
      });
    },
  };
}

const NOWHERE_IN_TIME: Scenario = {
  row: 'no time left',
  applies: always,
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (provider) => {
      const reference = randomUUID();
      const outcome = await prepare(provider, stand.outgoing(reference), notes).send(0);
      notes.outcome = outcome.kind;
      notes.check(outcome.kind === 'not-sent', `${outcome.kind} (${outcome.code}), not not-sent`);
      notes.check((await stand.seen(reference)).requests === 0, 'something was on the wire');
    });
  },
};

/** A later attempt is prepared by what shaped the first, as it comes back from the database. */
const CHANGED_CONFIGURATION: Scenario = {
  row: 'changed configuration',
  applies: (stand) => stand.openChanged !== null,
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (before) => {
      const outgoing = stand.outgoing(randomUUID());
      const { hash } = prepare(before, outgoing, notes);
      const kept = JSON.parse(JSON.stringify(before.shape)) as Shape;
      await withProvider(stand.openChanged?.() ?? before, async (after) => {
        const [later, fresh] = [after.prepare(outgoing, kept), after.prepare(outgoing, after.shape)];
        notes.check(later.ok && later.call.hash.equals(hash), 'the bytes changed with the configuration');
        notes.check(fresh.ok && !fresh.call.hash.equals(hash), 'the changed configuration has no part in the hash');
        notes.check(after.account === before.account, 'the account changed with the configuration');
        await Promise.resolve();
      });
    });
  },
};

function stall(): Fault {
  const found = FAULTS.find(({ name }) => name === 'stall before effect');
  if (found === undefined) throw new Error('there is no stall among the faults');
  return found;
}

const ALL_BUSY: Scenario = {
  row: 'no connection free',
  applies: (stand) => stand.connections !== null,
  run: async (stand, notes) => {
    await withProvider(stand.open(), async (provider) => {
      const connections = stand.connections ?? 0;
      const next = (): PreparedCall => prepare(provider, stand.outgoing(randomUUID()), notes);
      await stand.arm(stall());
      const before = await stand.wire();
      const busy = Array.from({ length: connections }, async () => await next().send(PATIENT_MS * 3));
      await eventually('all to stall', PATIENT_MS, async () => (await stand.stalled()) === connections);
      const outcome = await bounded(next().send(IMPATIENT_MS));
      notes.outcome = outcome.kind;
      notes.check(outcome.kind === 'not-sent', `the one that waited: ${outcome.kind} (${outcome.code})`);
      await stand.disarm();
      await stand.release();
      for (const { kind } of await bounded(Promise.all(busy)))
        notes.check(kind === 'accepted', `one of the busy: ${kind}`);
      notes.check((await stand.wire()) === before + connections, 'the one that waited was on the wire');
    });
  },
};

const CLOSED_IN_FLIGHT: Scenario = {
  row: 'closed in flight',
  applies: always,
  run: async (stand, notes) => {
    const provider = stand.open();
    const reference = randomUUID();
    const call = prepare(provider, stand.outgoing(reference), notes);
    await stand.arm(stall());
    const before = await stand.wire();
    const inFlight = call.send(PATIENT_MS * 3);
    await eventually(`${stand.name} to stall`, PATIENT_MS, async () => (await stand.stalled()) === 1);
    await bounded(provider.close());
    // The server is still silent: only the close can have ended it.
    const outcome = await Promise.race([inFlight, stillOpen(stand)]);
    notes.outcome = outcome?.kind ?? 'none';
    notes.check(outcome?.kind === 'ambiguous', `the call in flight: ${notes.outcome}`);
    const later = await bounded(call.send(IMPATIENT_MS));
    notes.check(later.kind === 'not-sent', `a call after the close: ${later.kind}`);
    await stand.disarm();
    await releaseAll(stand, reference, 1);
    notes.check((await stand.wire()) === before + 1, 'something was on the wire after the close');
    checkSeen(stand, await stand.seen(reference), notes);
  },
};

/** A round trip to the judge and back: whatever had ended before is settled by then. */
async function stillOpen(stand: Stand): Promise<null> {
  for (let turns = 0; turns < 5; turns += 1) await stand.stalled();
  return null;
}

export const ABILITY_SCENARIOS: readonly Scenario[] = [ABILITIES, OTHER_KIND, CHANGED_CONFIGURATION];

const ELSEWHERE: readonly Destination[] = ['a closed port', 'an unknown host', 'a server without TLS'];

export const LIFE_SCENARIOS: readonly Scenario[] = [
  ...ELSEWHERE.map(elsewhere),
  NOWHERE_IN_TIME,
  ALL_BUSY,
  CLOSED_IN_FLIGHT,
];
