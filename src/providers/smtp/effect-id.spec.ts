import { describe, expect, it } from 'vitest';
import { effectIdFrom } from './effect-id.ts';

describe('effectIdFrom', () => {
  it.each([
    ['250 2.0.0 Ok: queued as 4XyZ9k1Abc', '4XyZ9k1Abc'],
    ['250 OK id=1tAbCd-000000001Xy-2AbC', '1tAbCd-000000001Xy-2AbC'],
    ['250 2.6.0 <abc@host.example> [InternalId=1, Hostname=h] Queued mail for delivery', 'abc@host.example'],
    ['250 2.0.0 OK <abc@x.prod.outlook.com> [Hostname=h]', 'abc@x.prod.outlook.com'],
    ['250 2.0.0 56T7abcd012345 Message accepted for delivery', '56T7abcd012345'],
    ['250 ok 1700000000 qp 12345', '1700000000 qp 12345'],
    ['250 Ok 0100018b5c3c0a4f-11112222-000000', '0100018b5c3c0a4f-11112222-000000'],
    ['250 2.0.0 thanks', null],
    ['250', null],
    [`250 queued as ${'x'.repeat(129)}`, 'x'.repeat(128)],
  ])('%s', (reply, id) => {
    expect(effectIdFrom(reply)).toBe(id);
  });
});
