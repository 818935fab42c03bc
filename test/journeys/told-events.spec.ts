import { describe, expect, it } from 'vitest';
import type { OperationState } from '../../src/operations/operation.states.ts';
import type { PeerEvent } from '../support/peer.ts';
import { ToldEvents } from './told-events.ts';

const event = (what: string, id: string, operationId?: string): PeerEvent => ({
  type: operationId ? `einmal.operation.${what}.v1` : `einmal.campaign.${what}.v1`,
  id,
  tenantId: 'demo',
  causationId: null,
  key: `demo/${operationId ?? 'cmp'}`,
  data: operationId ? { operationId } : {},
  flaw: null,
});
const operation = (operationId: string, state: OperationState) => ({
  operationId,
  operationKey: `key-${operationId}`,
  state,
  reason: null,
  addressKey: 'a@example.org',
});
const told = (...events: PeerEvent[]): ToldEvents => {
  const all = new ToldEvents();
  all.take(events);
  return all;
};

describe('what the events tell', () => {
  it('is complete when each state that lasts has its event, and a list is read on where it ended', () => {
    const events = [event('accepted', '1', 'a')];
    const all = told(...events);
    const operations = [operation('a', 'accepted'), operation('b', 'unknown'), operation('c', 'queued')];
    expect(all.missing(operations)).toEqual(['no event says that key-b is unknown']);
    events.push(event('unknown', '2', 'b'));
    all.take(events);
    expect(all.missing(operations)).toEqual([]);
    expect(all.repeats).toBe(0);
  });

  it('may be told again under the same id, in any place', () => {
    const all = told(...['1', '2', '1', '2'].map((id) => event(id === '1' ? 'unknown' : 'accepted', id, 'a')));
    expect(all.faults()).toEqual([]);
    expect(all.repeats).toBe(2);
  });

  it('is at fault when a state is told under two ids or out of order', () => {
    expect(told(event('accepted', '1', 'a'), event('accepted', '2', 'a')).faults()).toHaveLength(1);
    expect(told(event('accepted', '1', 'a'), event('unknown', '2', 'a')).faults()).toEqual([
      'a: unknown after accepted',
    ]);
  });

  it('is at fault when an event is not as the AsyncAPI document says, first or repeated', () => {
    const flawed = { ...event('accepted', '1', 'a'), flaw: 'data/state is required' };
    expect(told(flawed).faults()).toEqual(['data/state is required']);
    expect(told(event('accepted', '1', 'a'), flawed).faults()).toEqual(['data/state is required']);
  });

  it('is at fault when a step of the campaign comes too early', () => {
    const steps = ['drafted', 'approved', 'materialised', 'started'].map((what) => event(what, what));
    expect(told(...steps).faults()).toEqual([]);
    expect(told(...steps.toReversed()).faults()).not.toEqual([]);
  });
});
