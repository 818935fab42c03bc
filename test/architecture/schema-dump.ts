import { Client } from 'pg';

const TABLES = `
  SELECT c.oid, c.relname AS name, array_to_string(c.reloptions, ', ') AS options
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_migrations'
  ORDER BY c.relname`;
const COLUMNS = `
  SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required, a.attidentity AS identity,
         pg_get_expr(d.adbin, d.adrelid) AS fallback,
         CASE WHEN a.attcollation <> t.typcollation THEN l.collname END AS collation
  FROM pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
  WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`;
const CONSTRAINTS = `
  SELECT conname AS name, pg_get_constraintdef(oid) AS definition
  FROM pg_constraint WHERE conrelid = $1 AND contype <> 'n' ORDER BY contype DESC, conname`;
const INDEXES = `
  SELECT pg_get_indexdef(i.indexrelid) AS definition
  FROM pg_index i
  WHERE i.indrelid = $1 AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
  ORDER BY 1`;
const FUNCTIONS = `
  SELECT pg_get_functiondef(p.oid) AS definition FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace ORDER BY p.proname`;

interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly identity: '' | 'a' | 'd';
  readonly fallback: string | null;
  readonly collation: string | null;
}

/** The schema of a migrated database as SQL, in a fixed order: what `migrations/schema.sql` must say. */
export async function dumpSchema(databaseUrl: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const parts = ['-- Generated from the migrations by `npm run schema`; a test compares the two.'];
    for (const table of await rows<{ oid: number; name: string; options: string | null }>(client, TABLES)) {
      parts.push(await dumpTable(client, table));
    }
    // After the tables that their bodies name.
    for (const { definition } of await rows<{ definition: string }>(client, FUNCTIONS))
      parts.push(`${definition.trim()};`);
    return `${parts.join('\n\n')}\n`;
  } finally {
    await client.end();
  }
}

async function dumpTable(
  client: Client,
  table: { oid: number; name: string; options: string | null },
): Promise<string> {
  const columns = (await rows<Column>(client, COLUMNS, table.oid)).map(columnText);
  const constraints = (await rows<{ name: string; definition: string }>(client, CONSTRAINTS, table.oid)).map(
    ({ name, definition }) => `CONSTRAINT ${name} ${definition}`,
  );
  const options = table.options === null || table.options === '' ? '' : ` WITH (${table.options})`;
  const body = [...columns, ...constraints].map((line) => `  ${line}`).join(',\n');
  const indexes = (await rows<{ definition: string }>(client, INDEXES, table.oid)).map(
    ({ definition }) => `${definition};`,
  );
  return [`CREATE TABLE ${table.name} (\n${body}\n)${options};`, ...indexes].join('\n');
}

function columnText({ name, type, required, identity, fallback, collation }: Column): string {
  return [
    name,
    type,
    collation === null ? '' : `COLLATE "${collation}"`,
    required ? 'NOT NULL' : '',
    identity === 'a' ? 'GENERATED ALWAYS AS IDENTITY' : '',
    fallback === null ? '' : `DEFAULT ${fallback}`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

async function rows<R>(client: Client, text: string, ...values: unknown[]): Promise<R[]> {
  return (await client.query(text, values)).rows as R[];
}
