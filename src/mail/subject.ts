/** `Subject: ` and a line of RFC 5322's recommended 78 characters. */
const MAX_PLAIN_LENGTH = 69;
/** 75 characters of an encoded word (RFC 2047 2) without `=?UTF-8?B?` and `?=`: 60 of base64, so 45 octets. */
const MAX_WORD_OCTETS = 45;
/** Characters; no client shows more than a fraction of it. */
export const MAX_SUBJECT_LENGTH = 1000;

/** One line without control characters: what a line break in an attribute becomes before it reaches the header. */
export function singleLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .toWellFormed()
    .trim();
}

/**
 * @param subject One line, see `singleLine`.
 * @returns The value of the Subject header, folded, ASCII only, without the final line break.
 */
export function encodeSubject(subject: string): string {
  if (
    subject.length <= MAX_PLAIN_LENGTH &&
    /^[\x21-\x7e]*(?: [\x21-\x7e]+)*$/.test(subject) &&
    !subject.includes('=?')
  ) {
    return subject;
  }
  return encodedWords(subject).join('\r\n ');
}

function encodedWords(subject: string): string[] {
  const words: string[] = [];
  let start = 0;
  let octets = 0;
  let position = 0;
  for (const character of subject) {
    const size = Buffer.byteLength(character);
    if (octets + size > MAX_WORD_OCTETS) {
      words.push(encodedWord(subject.slice(start, position)));
      start = position;
      octets = 0;
    }
    octets += size;
    position += character.length;
  }
  words.push(encodedWord(subject.slice(start)));
  return words;
}

function encodedWord(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
