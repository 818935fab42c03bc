import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { ServiceError } from '../../runtime/service-error.ts';
import { isPublicAddress } from './public-address.ts';

/**
 * Opens connections, TLS verified, HTTP/1.1 only. Unless private addresses are allowed, each address that a name resolves to
 * is judged in the very look-up that the connection uses: a name that changes its mind afterwards gains nothing.
 */
export function guardedConnector(options: {
  readonly timeoutMs: number;
  readonly allowPrivate: boolean;
}): buildConnector.connector {
  const common = { allowH2: false, timeout: options.timeoutMs };
  if (options.allowPrivate) return buildConnector(common);
  const connect = buildConnector({ ...common, lookup: lookupPublic });
  return (target, callback) => {
    // An address is not looked up, so it has to be judged here.
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) === 0 || isPublicAddress(literal)) return connect(target, callback);
    queueMicrotask(() => callback(privateAddress(), null));
  };
}

/** As dns.lookup, with the private addresses left out. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error !== null) return callback(error, '', 0);
    const [first, ...others] = found.filter(({ address }) => isPublicAddress(address));
    if (first === undefined) return callback(privateAddress(), '', 0);
    if (options.all === true) return callback(null, [first, ...others]);
    callback(null, first.address, first.family);
  });
};

function privateAddress(): ServiceError {
  return new ServiceError('private-address', 'the host is in a private network, which this provider may not call', {
    retryable: true,
  });
}
