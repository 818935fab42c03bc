/** The bytes of a base64 text (RFC 4648, section 4, with padding), or null when it is not exactly that. */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what it does not know; only canonical text comes back the same.
  return bytes.toString('base64') === text ? bytes : null;
}
