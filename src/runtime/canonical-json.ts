import { ServiceError } from './service-error.ts';

/**
 * What happens to lone surrogates, which RFC 8785 has no form for: `refuse` throws; `escape` writes the lower-case
 * `\ud800` form of JSON.stringify, so that any text a peer can send has one hash. Everything that RFC 8785 admits has the
 * same form either way.
 */
export type LoneSurrogates = 'refuse' | 'escape';

/** Far above what the envelope lets in; keeps a cycle or a hostile value from the end of the stack. */
const MAX_DEPTH = 512;

/** The common case, several times as fast as a call of JSON.stringify for each string. */
const NOTHING_TO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * The RFC 8785 form: no white space, members sorted by UTF-16 code units, numbers and strings as ECMAScript writes them,
 * minus zero as 0. Members that are `undefined` are absent. Throws a ServiceError `not-canonical` for what JSON cannot
 * hold (NaN, Infinity, bigint, functions, class instances, undefined in a list) and for lone surrogates when refused.
 */
export function canonicalJson(value: unknown, loneSurrogates: LoneSurrogates = 'refuse'): string {
  return write(value, loneSurrogates, MAX_DEPTH);
}

function write(value: unknown, loneSurrogates: LoneSurrogates, depthLeft: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, loneSurrogates);
    case 'number':
      return writeNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : writeContainer(value, loneSurrogates, depthLeft);
    case 'bigint':
    case 'function':
    case 'symbol':
    case 'undefined':
      break;
  }
  throw refused(`a ${typeof value} has no JSON form`);
}

function writeContainer(value: object, loneSurrogates: LoneSurrogates, depthLeft: number): string {
  if (depthLeft === 0) {
    throw refused(`nested deeper than ${MAX_DEPTH}`);
  }
  if (Array.isArray(value)) {
    return writeList(value, loneSurrogates, depthLeft - 1);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw refused('an instance of a class has no JSON form of its own');
  }
  return writeObject(value as Readonly<Record<string, unknown>>, loneSurrogates, depthLeft - 1);
}

function writeList(list: readonly unknown[], loneSurrogates: LoneSurrogates, depthLeft: number): string {
  let text = '[';
  for (let index = 0; index < list.length; index += 1) {
    text += (index === 0 ? '' : ',') + write(list[index], loneSurrogates, depthLeft);
  }
  return `${text}]`;
}

function writeObject(
  members: Readonly<Record<string, unknown>>,
  loneSurrogates: LoneSurrogates,
  depthLeft: number,
): string {
  // The default order is by UTF-16 code units, the one that RFC 8785 asks for.
  const names = Object.keys(members).toSorted();
  let text = '{';
  for (const name of names) {
    const member = members[name];
    if (member !== undefined) {
      const separator = text.length === 1 ? '' : ',';
      text += `${separator}${writeString(name, loneSurrogates)}:${write(member, loneSurrogates, depthLeft)}`;
    }
  }
  return `${text}}`;
}

function writeString(text: string, loneSurrogates: LoneSurrogates): string {
  if (NOTHING_TO_ESCAPE.test(text)) {
    return `"${text}"`;
  }
  if (loneSurrogates === 'refuse' && !text.isWellFormed()) {
    throw refused('a lone surrogate has no UTF-8 form');
  }
  return JSON.stringify(text);
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) {
    throw refused('a number must be finite');
  }
  return String(value);
}

function refused(rule: string): ServiceError {
  return new ServiceError('not-canonical', `no canonical JSON: ${rule}`, { retryable: false });
}
