import { isIP } from 'node:net';
import { isPublicAddress } from '../../providers/wire/public-address.ts';
import { line } from '../schema-parts.ts';

/** Where an HTTP endpoint is: scheme, host, port, and a path that all paths begin with. Without the slash at the end. */
export function baseUrl() {
  return line(2048)
    .refine(
      (text) => isBaseUrl(text),
      'must be a URL like https://api.example.org/v1, without login, query and fragment',
    )
    .transform((text) => text.replace(/\/+$/, ''));
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash, pathname } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  // A path that the parser would write otherwise (dots, blanks) is not the one that was meant.
  return (
    `${username}${password}${search}${hash}` === '' &&
    /^https?:\/\/[^/\\?#@]+(?:\/[\w./~%-]*)?$/i.test(text) &&
    !/%2e|\/\.\.?(?:\/|$)/i.test(text) &&
    pathname.startsWith('/')
  );
}

/** What is wrong with a URL that `baseUrl` admits, for a provider that may call public hosts only; null: nothing. */
export function notPublic(url: string): string | null {
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host))) {
    return 'is on this machine or in a private network, which needs allowPrivate: true';
  }
  return protocol === 'https:' ? null : 'must begin with https://, or have allowPrivate: true beside it';
}
