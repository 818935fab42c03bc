import { QueryRunnerAlreadyReleasedError, type DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import type { Transaction } from './in-transaction.ts';
import { defineStatement } from './statement.ts';

const LONG = `${'a-very-long-name-of-a-file-'.repeat(4)}.sql`;

function recording() {
  const sent: { text: string; values: unknown[]; released: boolean }[] = [];
  const names: string[] = [];
  const client = {
    query: ({ name, text, values }: { name: string; text: string; values: unknown[] }) => {
      names.push(name);
      sent.push({ text, values, released: false });
      return Promise.resolve({ rows: [{ one: 1 }] });
    },
  };
  const executor = {
    createQueryRunner: () => ({
      isReleased: false,
      connect: () => Promise.resolve(client),
      release: () => {
        const last = sent.at(-1);
        if (last) last.released = true;
        return Promise.resolve();
      },
    }),
  } as unknown as DataSource;
  return { sent, names, executor };
}

describe('a statement', () => {
  it('sends named parameters by position, each name once, and gives the connection back', async () => {
    const { sent, executor } = recording();
    const statement = defineStatement<{ a: number; b: string[] }, { one: number }>(
      'x.sql',
      'SELECT :a, :b::text[], :a',
    );
    expect(await statement.run(executor, { a: 1, b: ['x'] })).toEqual([{ one: 1 }]);
    expect(sent).toEqual([{ text: 'SELECT $1, $2::text[], $1', values: [1, ['x']], released: true }]);
  });

  it('is prepared under a name that PostgreSQL keeps whole and that no other text has', async () => {
    const { names, executor } = recording();
    const run = async (text: string): Promise<unknown> =>
      await defineStatement<object, unknown>(LONG, text).run(executor, {});
    await run('SELECT 1');
    await run('SELECT 1');
    await run('SELECT 2');
    expect(names[0]).toBe(names[1]);
    expect(names[0]).not.toBe(names[2]);
    for (const name of names) expect(Buffer.byteLength(name)).toBeLessThan(64);
  });

  it('is not run on another connection when its own is gone', async () => {
    const runner = { isReleased: true, connect: () => Promise.reject(new Error('a new connection')) };
    const executor = { queryRunner: runner } as unknown as Transaction;
    const late = defineStatement<object, unknown>('x.sql', 'SELECT 1').run(executor, {});
    await expect(late).rejects.toBeInstanceOf(QueryRunnerAlreadyReleasedError);
  });

  it('fails as an error of a query, with what the server said', async () => {
    const said = Object.assign(new Error('no'), { code: '23505', severity: 'ERROR' });
    const client = { query: () => Promise.reject(said) };
    const runner = { isReleased: false, connect: () => Promise.resolve(client) };
    const executor = { queryRunner: runner } as unknown as Transaction;
    const refused = defineStatement<object, unknown>('x.sql', 'SELECT 1').run(executor, {});
    await expect(refused).rejects.toMatchObject({ name: 'QueryFailedError', driverError: said });
  });

  it('leaves casts and comments alone', async () => {
    const { sent, executor } = recording();
    await defineStatement<Record<string, never>, unknown>('x.sql', "-- not a :parameter\nSELECT 'a'::text").run(
      executor,
      {},
    );
    expect(sent[0]?.text.trim()).toBe("SELECT 'a'::text");
  });

  it('sends null as null', async () => {
    const { sent, executor } = recording();
    await defineStatement<{ a: null }, unknown>('x.sql', 'SELECT :a').run(executor, { a: null });
    expect(sent[0]?.values).toEqual([null]);
  });

  it.each([
    ['missing', {}, 'missing [a], unknown []'],
    ['undefined', { a: undefined }, 'missing [a], unknown []'],
    ['unknown', { a: 1, b: 2 }, 'missing [], unknown [b]'],
  ])('refuses a parameter that is %s before anything is sent', async (_name, parameters, message) => {
    const { sent, executor } = recording();
    const statement = defineStatement<object, unknown>('x.sql', 'SELECT :a');
    await expect(statement.run(executor, parameters)).rejects.toThrow(`x.sql: ${message}`);
    expect(sent).toEqual([]);
  });
});
