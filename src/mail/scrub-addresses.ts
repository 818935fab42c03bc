const ADDRESS_LIKE = /(?:"(?:[^"\\]|\\.)*"|[^\s<>"'(),;:]+)@[^\s<>"'(),;]+/gu;

/**
 * Makes foreign text fit for logs and error texts: control characters become spaces, whatever looks like an address
 * becomes `<address>`, and the result is cut.
 *
 * @param text What a server, a parser or a peer said.
 * @param known Addresses that the text may quote, also in part (a bare local part).
 * @param maxLength Characters kept, 500 unless told.
 */
export function scrubAddresses(text: string, known: readonly string[] = [], maxLength = 500): string {
  let scrubbed = text.slice(0, 4 * maxLength);
  for (const address of known) scrubbed = withoutKnown(scrubbed, address);
  return scrubbed
    .replaceAll(ADDRESS_LIKE, '<address>')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/<{2,}address>{2,}/g, '<address>')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();
}

function withoutKnown(text: string, address: string): string {
  const local = address.slice(0, Math.max(0, address.lastIndexOf('@')));
  // Nearly always true, and it spares two regular expressions for each answer of a server.
  if (local === '' || !text.toLowerCase().includes(local.toLowerCase())) return text;
  const whole = text.replaceAll(new RegExp(literally(address), 'giu'), '<address>');
  // A local part of one or two letters is also a part of ordinary words.
  if (local.length < 3) return whole;
  const standingAlone = String.raw`(?<![\p{L}\p{N}])${literally(local)}(?![\p{L}\p{N}])`;
  return whole.replaceAll(new RegExp(standingAlone, 'giu'), '<address>');
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
