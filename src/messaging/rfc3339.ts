/** RFC 3339, section 5.6, with a required offset and at most nanoseconds. Leap seconds are left out: no clock here has them. */
export const RFC3339_PATTERN =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const FIRST_MS_OF_YEAR_10000 = 253_402_300_800_000;

/**
 * The instant that an RFC 3339 text names, to the millisecond, or null when the text is none, names a day that its month
 * does not have, or lies outside the years 1970 to 9999 (beyond which ISO text, JavaScript and PostgreSQL no longer agree).
 */
export function parseRfc3339(text: string): Date | null {
  if (!RFC3339_PATTERN.test(text)) {
    return null;
  }
  const day = Number(text.slice(8, 10));
  if (day > 28 && day > daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7)))) {
    return null;
  }
  const milliseconds = Date.parse(text);
  return milliseconds >= 0 && milliseconds < FIRST_MS_OF_YEAR_10000 ? new Date(milliseconds) : null;
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
