export type JsonObject = Readonly<Record<string, unknown>>;

export interface JsonLimits {
  /** Of the object's compact JSON in UTF-8. */
  readonly maxBytes: number;
  /** Objects and lists, the object itself being the first. */
  readonly maxDepth: number;
  /** Members of the object itself. */
  readonly maxMembers: number;
}

interface Measure {
  /** An upper bound of the bytes of the compact JSON. */
  bytes: number;
  depth: number;
}

/** JSON writes a character as six at most (`\u0000`). */
const MAX_BYTES_PER_UNIT = 6;
/** The longest text of a number, true, false or null, and a separator. */
const MAX_BYTES_PER_SCALAR = 26;

/**
 * The rule that a value breaks, or null. Values come from the envelope, whose own depth limit bounds the recursion. The
 * JSON is only written out when the cheap upper bound does not already decide.
 */
export function jsonObjectFlaw(value: unknown, limits: JsonLimits): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'must be an object';
  }
  const members = Object.keys(value).length;
  if (members > limits.maxMembers) {
    return `must have at most ${limits.maxMembers} members`;
  }
  const measure: Measure = { bytes: 0, depth: 0 };
  measureContainer(value, 1, measure);
  if (measure.depth > limits.maxDepth) {
    return `must not be nested deeper than ${limits.maxDepth}`;
  }
  const small = measure.bytes <= limits.maxBytes || Buffer.byteLength(JSON.stringify(value)) <= limits.maxBytes;
  return small ? null : `must not take more than ${limits.maxBytes} bytes as JSON`;
}

function measureContainer(value: object, depth: number, measure: Measure): void {
  measure.bytes += 3;
  measure.depth = Math.max(measure.depth, depth);
  const list = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    measure.bytes += list ? 1 : 4 + name.length * MAX_BYTES_PER_UNIT;
    measureMember(member, depth, measure);
  }
}

function measureMember(member: unknown, depth: number, measure: Measure): void {
  if (typeof member === 'string') {
    measure.bytes += 3 + member.length * MAX_BYTES_PER_UNIT;
  } else if (typeof member === 'object' && member !== null) {
    measureContainer(member, depth + 1, measure);
  } else {
    measure.bytes += MAX_BYTES_PER_SCALAR;
  }
}
