import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { CallOutcome } from '../../../src/providers/provider.port.ts';
import { onReach } from '../../../src/runtime/signal.ts';
import { createDispatchRig, type DispatchRig } from '../../support/dispatch-rig.ts';
import { ACCEPTED, ScriptedProvider } from '../../support/dispatch-worker.ts';

let rig: DispatchRig;
let disarm: () => void = () => undefined;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());
afterEach(() => disarm());

/** Cuts the connections of whoever is in a transaction, as a broken network does, the first `times` times. */
function cutConnectionsAt(point: string, times: number): void {
  let left = times;
  disarm = onReach(point, async () => {
    if (left-- <= 0) return;
    await rig.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction' AND pid <> pg_backend_pid()`,
    );
  });
}

describe('a result whose storing fails', () => {
  it.each(['dispatch.after-record', 'record.before-commit'])(
    'is stored again when the connection is cut at %s, and the provider is called once',
    async (point) => {
      await rig.request(['a', 'b']);
      cutConnectionsAt(point, 4);
      const worker = rig.worker();
      await worker.workUntil('both to be accepted', async () => await rig.allIn('accepted'));
      expect(await rig.sink.stats()).toMatchObject({ transactions: 2, accepted: 2, doubled: 0 });
      expect(await rig.attempts('a')).toMatchObject([{ outcome: 'accepted' }]);
      expect(await rig.eventsOf('a')).toEqual(['operation.accepted']);
    },
  );

  it('is not told twice when only the answer to the commit was lost', async () => {
    await rig.request(['a']);
    let first = true;
    disarm = onReach('record.after-commit', () => {
      if (!first) return;
      first = false;
      throw new Error('the answer was lost');
    });
    const worker = rig.worker();
    await worker.workUntil('it to be accepted', async () => await rig.allIn('accepted'));
    await worker.pipeline.stop();
    expect(await rig.eventsOf('a')).toEqual(['operation.accepted']);
    expect(await rig.sink.recipients()).toEqual(new Map([['a@example.com', 1]]));
  });

  it('stops the calls before a kill could leave many unknown: four for each call at a time', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    await rig.request(names);
    const opened = Promise.withResolvers<void>();
    disarm = onReach('record.before-commit', async () => await opened.promise);
    const provider = new ScriptedProvider(() => ACCEPTED, 2);
    const worker = rig.worker({ provider });
    await worker.workUntil('the calls to stop', () => provider.calls.length === 8);
    // The ninth waits for a result to be stored: in the database eight are being called, and no other has an intent.
    for (let turn = 0; turn < 20; turn++) await worker.pipeline.runOnce();
    expect(provider.calls).toHaveLength(8);
    const [counted] = await rig.query<{ calling: number }>(
      `SELECT count(*)::integer AS calling FROM operations WHERE state = 'calling'`,
    );
    expect(counted?.calling).toBe(8);
    opened.resolve();
    await worker.workUntil('all to be accepted', async () => await rig.allIn('accepted'));
    expect(provider.calls).toHaveLength(names.length);
  });

  it('holds up no other: the rest of its batch is stored without it', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    await rig.request(names);
    const poison = (await rig.operation('n7')).operation_id;
    await rig.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.operation_id = '${poison}' AND NEW.outcome IS NOT NULL THEN RAISE EXCEPTION 'no'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON attempts FOR EACH ROW EXECUTE FUNCTION refuse();
    `);
    const provider = new ScriptedProvider(() => ACCEPTED, 20);
    const worker = rig.worker({ provider });
    try {
      await worker.workUntil('the others', async () => (await rig.states())['accepted'] === 19, 10_000);
      expect((await rig.operation('n7')).state).toBe('calling');
    } finally {
      await rig.query('DROP TRIGGER refuse ON attempts; DROP FUNCTION refuse');
    }
    await worker.workUntil('the last one', async () => await rig.allIn('accepted'));
    expect(provider.calls).toHaveLength(20);
  });
});

describe('an answer that cannot be stored as it is', () => {
  const long = 'x'.repeat(5 * 1024 * 1024);
  const answers: [string, CallOutcome['kind'], string][] = ['accepted', 'rejected', 'ambiguous'].flatMap((kind) =>
    (
      [
        ['NUL', 'a\u0000b'],
        ['a lone surrogate', 'a\ud800b'],
        ['5 MB', long],
      ] as const
    ).map(([what, text]) => [what, kind as CallOutcome['kind'], text] as [string, CallOutcome['kind'], string]),
  );

  it.each(answers)(
    '%s in what is %s is escaped or cut and flagged, and the provider is called once',
    async (_what, kind, text) => {
      await rig.request(['a']);
      const said = { code: text, diagnostic: text };
      const provider = new ScriptedProvider(() =>
        kind === 'accepted'
          ? { kind, effectId: text, ...said }
          : kind === 'rejected'
            ? { kind, what: 'message', ...said }
            : { kind: 'ambiguous', ...said },
      );
      const worker = rig.worker({ provider });
      const state = kind === 'ambiguous' ? 'unknown' : kind;
      await worker.workUntil(`it to be ${state}`, async () => await rig.allIn(state), 5_000);
      expect(provider.calls).toHaveLength(1);
      const [attempt] = await rig.attempts('a');
      expect(attempt?.outcome).toBe(kind);
      expect((attempt?.diagnostic ?? '').length).toBeLessThanOrEqual(500);
      expect(attempt?.diagnostic).toMatch(/^\[changed\] /);
      expect(await rig.eventsOf('a')).toEqual([`operation.${state}`]);
    },
  );
});
