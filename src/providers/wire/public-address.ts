import { BlockList, isIP } from 'node:net';

/** IANA's registry of special-purpose IPv4 addresses (RFC 6890), with multicast and what is reserved. */
const SPECIAL_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Inside 2000::/3, the only IPv6 range in public use: protocol assignments with Teredo, documentation, 6to4. */
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const refused = new BlockList();
const admitted = new BlockList();
admitted.addSubnet('2000::', 3, 'ipv6');
// RFC 6052: how an IPv6-only network reaches an IPv4 address, which decides.
admitted.addSubnet('64:ff9b::', 96, 'ipv6');
for (const [net, bits] of SPECIAL_V4) {
  refused.addSubnet(net, bits, 'ipv4');
  refused.addSubnet(`64:ff9b::${net}`, 96 + bits, 'ipv6');
}
for (const [net, bits] of SPECIAL_V6) refused.addSubnet(net, bits, 'ipv6');

/** Whether an IP address (no host name) is one of the public internet's; IPv4 inside IPv6 counts as that IPv4 address. */
export function isPublicAddress(address: string): boolean {
  const bare = address.split('%', 1)[0] ?? '';
  const family = isIP(bare);
  if (family === 4) return !refused.check(bare, 'ipv4');
  if (family !== 6) return false;
  // ::ffff:a.b.c.d is found by the IPv4 rules of the list.
  if (isMapped(bare)) return !refused.check(bare, 'ipv6');
  return admitted.check(bare, 'ipv6') && !refused.check(bare, 'ipv6');
}

const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

function isMapped(address: string): boolean {
  return mapped.check(address, 'ipv6');
}
