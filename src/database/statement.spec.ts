import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { defineStatement } from './statement.ts';

function recording() {
  const sent: { text: string; values: unknown[]; released: boolean }[] = [];
  const executor = {
    createQueryRunner: () => ({
      connect: () => Promise.resolve(),
      query: (text: string, values: unknown[]) => {
        sent.push({ text, values, released: false });
        return Promise.resolve({ records: [{ one: 1 }] });
      },
      release: () => {
        const last = sent.at(-1);
        if (last) last.released = true;
        return Promise.resolve();
      },
    }),
  } as unknown as DataSource;
  return { sent, executor };
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
