import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../runtime/service-error.ts';
import { describeKafkaError, isMembershipError, isMembershipLost } from './kafka-errors.ts';

const { KafkaJSConnectionError, KafkaJSNonRetriableError, KafkaJSProtocolError } = kafkajs;

function protocol(type: string, retriable = false): Error {
  return new KafkaJSProtocolError(Object.assign(new Error('text'), { type, retriable }));
}

describe('describeKafkaError', () => {
  it.each([
    ['membership', 'rebalance-in-progress', protocol('REBALANCE_IN_PROGRESS')],
    ['too-large', 'message-too-large', protocol('MESSAGE_TOO_LARGE')],
    ['unknown-topic', 'unknown-topic-or-partition', protocol('UNKNOWN_TOPIC_OR_PARTITION', true)],
    ['sequence', 'out-of-order-sequence-number', protocol('OUT_OF_ORDER_SEQUENCE_NUMBER')],
    ['denied', 'topic-authorization-failed', protocol('TOPIC_AUTHORIZATION_FAILED')],
    ['other', 'policy-violation', protocol('POLICY_VIOLATION')],
    ['unreachable', 'ECONNREFUSED', new KafkaJSConnectionError('text', { code: 'ECONNREFUSED' })],
    ['unreachable', 'connection', new KafkaJSConnectionError('text')],
    [
      'unsupported',
      'not-implemented',
      Object.assign(new Error('text'), { name: 'KafkaJSNotImplemented', retriable: false }),
    ],
    ['other', 'kafka-zstd-unsupported', new ServiceError('kafka-zstd-unsupported', 'text', { retryable: false })],
    ['other', 'type', new TypeError('text')],
    ['other', 'unknown', 'a string'],
  ])('classes as %s with the code %s', (kind, code, error) => {
    expect(describeKafkaError(error)).toMatchObject({ kind, code });
  });

  it('A: looks through the wrapper that hides the type', () => {
    const wrapped = Object.assign(new KafkaJSNonRetriableError('text'), { cause: protocol('ILLEGAL_GENERATION') });
    expect(describeKafkaError(wrapped)).toMatchObject({ kind: 'membership', code: 'illegal-generation' });
    expect(describeKafkaError({ errors: [protocol('INVALID_CONFIG')] })).toMatchObject({ code: 'invalid-config' });
  });

  it('does not follow a cause that points at itself', () => {
    const error: Error & { cause?: unknown } = new Error('text');
    error.cause = error;
    expect(describeKafkaError(error)).toMatchObject({ kind: 'other' });
  });

  it('tells a rebalance from a loss', () => {
    expect(isMembershipError(protocol('REBALANCE_IN_PROGRESS'))).toBe(true);
    expect(isMembershipLost(protocol('REBALANCE_IN_PROGRESS'))).toBe(false);
    expect(isMembershipLost(protocol('UNKNOWN_MEMBER_ID'))).toBe(true);
    expect(isMembershipError(protocol('MESSAGE_TOO_LARGE'))).toBe(false);
  });
});
