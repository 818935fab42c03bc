import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../src/database/in-transaction.ts';
import { onReach } from '../../src/runtime/signal.ts';
import { HandledEvents, subscriberEvent } from '../support/handled-events.ts';
import { openMessagingRig, type MessagingRig } from '../support/messaging-rig.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { migrateUp } from '../support/migrate-up.ts';
import { append, drain, entryOf, FakeBroker, relayOf, resetOutbox } from '../support/relay-rig.ts';
import { startPostgres, type PostgresHandle } from '../support/stack/stack.ts';

let server: PostgresHandle;
let template: TestDatabase;
let rig: MessagingRig;
let handled: HandledEvents;
let dataSource: DataSource;

beforeAll(async () => {
  server = await startPostgres();
  template = await createDatabase(server.url);
  await migrateUp(template.url);
  rig = await openMessagingRig(server.url, new URL(template.url).pathname.slice(1), 5);
  handled = await HandledEvents.create(rig);
  dataSource = rig.dataSource;
});
afterAll(async () => {
  await dataSource.destroy();
  await server.stop();
});

describe('a PostgreSQL that goes away', () => {
  it('before, in the middle and at the commit of a chunk: the consumer waits, counts nothing, and goes on by itself', async () => {
    const consumer = rig.consumer('subscribers', handled);
    const chunk = ['a', 'b', 'c'].map((id) => subscriberEvent(id));
    for (const point of ['inbox.after-insert', 'inbox.after-handle', 'inbox.before-commit']) {
      const stop = onReach(point, async () => {
        stop();
        await server.kill();
      });
      expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'database-away' });
      for (let round = 0; round < 3; round++)
        expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'database-away' });
      await server.restart();
      expect(await handled.ids()).toEqual([]);
      expect(await rig.query('SELECT FROM inbox')).toEqual([]);
    }
    expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
    expect(await handled.ids()).toEqual(['a', 'b', 'c']);
    expect(await rig.deadLetters()).toEqual([]);
  });

  it('between publish and delete: the messages are published again, in order and with the same ids', async () => {
    await resetOutbox(dataSource);
    const broker = new FakeBroker();
    const relay = relayOf(dataSource, broker);
    await append(
      dataSource,
      ['1', '2', '3'].map((id) => entryOf(id, 'k')),
    );
    const stop = onReach('relay.after-publish', async () => {
      stop();
      await server.kill();
    });
    await expect(relay.runOnce(new AbortController().signal)).rejects.toBeInstanceOf(Error);
    await server.restart();
    await drain(relay);
    expect(broker.ids()).toEqual(['1', '2', '3', '1', '2', '3']);
    expect(await rig.query('SELECT FROM outbox')).toEqual([]);
  });

  it('with the answer to a commit: the repetition finds what was committed', async () => {
    await handled.reset();
    const consumer = rig.consumer('subscribers', handled);
    const chunk = ['x', 'y'].map((id) => subscriberEvent(id));
    const stop = onReach('inbox.after-commit', async () => {
      stop();
      await server.kill();
      // What the consumer would see had the answer been lost: the next thing it does with the connection fails.
      await inTransaction(dataSource, 'test', async () => await Promise.resolve());
    });
    expect(await consumer.take(chunk)).toMatchObject({ kind: 'wait', reason: 'database-away' });
    await server.restart();
    expect(await consumer.take(chunk)).toEqual({ kind: 'done' });
    expect(consumer.settled.at(-1)).toMatchObject({ fresh: 0, duplicates: 2 });
    expect(await handled.ids()).toEqual(['x', 'y']);
  });
});
