/** RFC 5322 2.1.1, without CRLF. */
const MAX_LINE_LENGTH = 998;
/** RFC 2045 6.8. */
const BASE64_COLUMNS = 76;

/**
 * One text part of a multipart message: its headers, an empty line, its content, and a final CRLF. Plain ASCII in
 * short lines goes as it is, anything else as base64; both are right for every text, and neither costs a pass in JS
 * per character.
 *
 * @param boundary Refused inside a part that is not encoded.
 */
export function bodyPart(subtype: 'plain' | 'html', text: string, boundary: string): string {
  const body = text.replaceAll(/\r\n?|\n/g, '\r\n');
  const type = `Content-Type: text/${subtype}; charset=utf-8\r\n`;
  if (goesAsItIs(body) && !body.includes(boundary)) return `${type}Content-Transfer-Encoding: 7bit\r\n\r\n${body}\r\n`;
  return `${type}Content-Transfer-Encoding: base64\r\n\r\n${base64Lines(body)}\r\n`;
}

function goesAsItIs(body: string): boolean {
  if (!/^[\t\r\n\x20-\x7e]*$/.test(body)) return false;
  for (let start = 0; start <= body.length;) {
    const end = body.indexOf('\r\n', start);
    const length = (end < 0 ? body.length : end) - start;
    if (length > MAX_LINE_LENGTH) return false;
    start += length + 2;
  }
  return true;
}

function base64Lines(body: string): string {
  const encoded = Buffer.from(body, 'utf8').toString('base64');
  let lines = '';
  for (let start = 0; start < encoded.length; start += BASE64_COLUMNS) {
    lines += start === 0 ? encoded.slice(0, BASE64_COLUMNS) : `\r\n${encoded.slice(start, start + BASE64_COLUMNS)}`;
  }
  return lines;
}
