import { describe, expect, it } from 'vitest';

import {
  CONSUMED_TOPIC_NAMES,
  DEFAULT_TOPIC_PREFIX,
  PRODUCED_TOPIC_NAMES,
  TOPIC_NAMES,
  topicAddress,
} from './topics.ts';

describe('topics', () => {
  it('have the addresses of the contract', () => {
    expect(topicAddress(DEFAULT_TOPIC_PREFIX, 'subscribers')).toBe('einmal.subscribers.v1');
    expect(topicAddress('t1.einmal.', 'dead-letters')).toBe('t1.einmal.dead-letters.v1');
  });

  it('are consumed or produced, each once', () => {
    expect(CONSUMED_TOPIC_NAMES).toEqual([
      'subscribers',
      'suppressions',
      'campaigns',
      'approvals',
      'operations',
      'receipts',
    ]);
    expect(PRODUCED_TOPIC_NAMES).toEqual(['events', 'deliveries', 'dead-letters']);
    expect(new Set(TOPIC_NAMES).size).toBe(CONSUMED_TOPIC_NAMES.length + PRODUCED_TOPIC_NAMES.length);
  });

  it('fit into the names that Kafka allows, with the longest prefix', () => {
    for (const name of TOPIC_NAMES) {
      expect(topicAddress('p'.repeat(200), name)).toMatch(/^[a-zA-Z0-9._-]{1,249}$/);
    }
  });
});
