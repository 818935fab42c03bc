/**
 * The service's own functions as they run in production, compiled: the two sides of the pair do the same work per message and
 * differ only in how messages reach it.
 */
type Source = typeof import('../../../src/database/data-source.ts') &
  typeof import('../../../src/database/in-transaction.ts') &
  typeof import('../../../src/messaging/contracts/registry.ts') &
  typeof import('../../../src/messaging/inbox/insert-fresh.ts') &
  typeof import('../../../src/messaging/message-hash.ts') &
  typeof import('../../../src/messaging/outbox/append-to-outbox.ts') &
  typeof import('../../../src/messaging/outbox/produced-event.ts') &
  typeof import('../../../src/operations/request-operations/plan-operation.ts') &
  typeof import('../../../src/operations/request-operations/request-operations.ts');

const MODULES = [
  'database/data-source.js',
  'database/in-transaction.js',
  'messaging/contracts/registry.js',
  'messaging/inbox/insert-fresh.js',
  'messaging/message-hash.js',
  'messaging/outbox/append-to-outbox.js',
  'messaging/outbox/produced-event.js',
  'operations/request-operations/plan-operation.js',
  'operations/request-operations/request-operations.js',
];

const loaded: unknown[] = await Promise.all(
  MODULES.map((name) => import(new URL(`../../../dist/src/${name}`, import.meta.url).href) as Promise<unknown>),
);

export const compiled = Object.assign({}, ...loaded) as Source;
