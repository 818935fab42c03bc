/** Texts after 250 in which servers name the mail (RFC 5321 leaves them free). The first group is the id. */
const QUEUE_ID_FORMS: readonly RegExp[] = [
  // Postfix and its relatives: `2.0.0 Ok: queued as 4XyZ`
  /\bqueued as ([\w.-]{3,128})/i,
  // Exim: `OK id=1tAbCd-000000001Xy-2AbC`
  /\bid=([\w.-]{3,128})/i,
  // Microsoft 365: `2.6.0 <id@host> [InternalId=...] Queued mail for delivery`
  /^2\.6\.0 <([^<>\s]{3,200})>/,
  // Outlook.com: `2.0.0 OK <id@host>`
  /^2\.0\.0 OK <([^<>\s]{3,200})>/i,
  // Sendmail: `2.0.0 56T7abcd012345 Message accepted for delivery`
  /^2\.0\.0 ([\w.-]{6,128}) Message accepted/i,
  // qmail: `ok 1700000000 qp 12345`
  /^ok (\d+ qp \d+)/i,
  // Amazon SES: `Ok 0100018b5c3c0a4f-...-000000`
  /^Ok ([0-9a-f]{8,}(?:-[0-9a-f]+)+)\s*$/i,
];

/**
 * @param reply The line that answered the dot, e.g. `250 2.0.0 Ok: queued as 4XyZ`.
 * @returns The server's own id for the mail, null when the text holds none that is known.
 */
export function effectIdFrom(reply: string): string | null {
  const text = reply.replace(/^250[ -]/, '');
  for (const form of QUEUE_ID_FORMS) {
    const id = form.exec(text)?.[1];
    if (id !== undefined) return id;
  }
  return null;
}
