import type { Draws } from '../journeys/seeded.ts';

/** What a peer might send instead, and what it was made of. */
export interface Mutated {
  readonly name: string;
  readonly bytes: Buffer;
  /**
   * `refuse`: no JSON that is taken, whatever it says. `by-schema`: `value` decides. Members of a structured mutation are named by
   * `field`, as the service would.
   */
  readonly expect: 'refuse' | 'by-schema';
  readonly value: unknown;
}

type Step = string | number;
type Path = readonly Step[];

const STRUCTURED = [
  'missing',
  'wrong type',
  'null',
  'too long',
  'far too long',
  'wrong unit',
  'fraction',
  'past',
  'far future',
  'empty',
  'NUL',
  'lone surrogate',
  'unknown member',
  'a list of it',
  'line break',
] as const;
const TEXTUAL = [
  '1000 levels',
  '1e400',
  '-0',
  'a number too long',
  'duplicate keys',
  'byte order mark',
  'invalid UTF-8',
  '__proto__',
  'cut off',
  'nothing',
  'two values',
] as const;

/** One mutation of a value, drawn: two of three change a member, one the text. */
export function mutate(value: unknown, draws: Draws): Mutated {
  return draws.next() < 0.67 ? structured(value, draws) : textual(value, draws);
}

function structured(value: unknown, draws: Draws): Mutated {
  const name = pick(STRUCTURED, draws);
  const paths = pathsOf(value);
  const path = pick(paths, draws);
  const changed = structuredClone(value);
  const parent = at(changed, path.slice(0, -1));
  const last = path.at(-1);
  if (name === 'unknown member') setMember(objectAt(changed, path), 'unknwon', 1);
  else if (last === undefined || typeof parent !== 'object' || parent === null) return textual(value, draws);
  else if (name === 'missing') Reflect.deleteProperty(parent, last);
  else Reflect.set(parent, last, instead(name, at(value, path)));
  return { name: `${name} at ${path.join('.')}`, bytes: bytesOf(changed), expect: 'by-schema', value: changed };
}

function instead(name: Exclude<(typeof STRUCTURED)[number], 'missing' | 'unknown member'>, was: unknown): unknown {
  switch (name) {
    case 'wrong type':
      if (typeof was === 'string') return 17;
      return typeof was === 'number' || typeof was === 'boolean' ? `${was}` : 'text';
    case 'null':
      return null;
    case 'too long':
      return Array.isArray(was) ? Array.from({ length: 1001 }, () => was[0] ?? 'x') : 'x'.repeat(1001);
    case 'far too long':
      return 'x'.repeat(600_000);
    case 'wrong unit':
      return typeof was === 'number' ? was * 1_000_000_000_000 : -1;
    case 'fraction':
      return 0.5;
    case 'past':
      return '1969-12-31T23:59:59Z';
    case 'far future':
      return '10000-01-01T00:00:00Z';
    case 'empty':
      return '';
    case 'NUL':
      return `${typeof was === 'string' ? was : 'x'}\u0000`;
    case 'lone surrogate':
      return `${typeof was === 'string' ? was : 'x'}\ud800`;
    case 'a list of it':
      return [was];
    case 'line break':
      return 'a\r\nBcc: eve@example.com';
  }
}

function textual(value: unknown, draws: Draws): Mutated {
  const name = pick(TEXTUAL, draws);
  const text = JSON.stringify(value);
  const inside = (member: string): Buffer => Buffer.from(text.replace(/^\{/, `{${member}${text === '{}' ? '' : ','}`));
  switch (name) {
    case '1000 levels':
      return refused(name, inside(`"deep":${'['.repeat(1000)}${']'.repeat(1000)}`));
    case '1e400':
      return refused(name, inside('"number":1e400'));
    case '-0':
      // It would not survive: its canonical form is 0.
      return refused(name, inside('"number":-0'));
    case 'a number too long':
      return refused(name, inside('"number":12345678901234567890'));
    case 'duplicate keys':
      return refused(name, inside('"twice":1,"twice":2'));
    case 'byte order mark':
      return refused(name, Buffer.from(`\ufeff${text}`));
    case 'invalid UTF-8':
      return refused(
        name,
        Buffer.concat([
          Buffer.from(text.slice(0, -1)),
          Buffer.from(',"x":"'),
          Buffer.from([0xc3, 0x28]),
          Buffer.from('"}'),
        ]),
      );
    case '__proto__':
      return refused(name, inside('"__proto__":{"polluted":true}'));
    case 'cut off':
      return refused(name, Buffer.from(text.slice(0, Math.floor(draws.between(1, text.length)))));
    case 'nothing':
      return refused(name, Buffer.alloc(0));
    case 'two values':
      return refused(name, Buffer.from(`${text}${text}`));
  }
}

function refused(name: string, bytes: Buffer): Mutated {
  return { name, bytes, expect: 'refuse', value: undefined };
}

/** U+0000 and lone surrogates go as escapes, which is JSON all the same. */
export function bytesOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...members.flatMap(([step, inner]) => pathsOf(inner, [...path, step]))];
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => (asObject(inner) as Record<Step, unknown>)[step], value);
}

/** The nearest object on the way. */
function objectAt(value: unknown, path: Path): object {
  for (let length = path.length; length >= 0; length -= 1) {
    const found = at(value, path.slice(0, length));
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found;
  }
  return asObject(value);
}

function setMember(target: object, name: string, value: unknown): void {
  Reflect.set(target, name, value);
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

export function pick<T>(items: readonly T[], draws: Draws): T {
  const item = items[Math.floor(draws.next() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
