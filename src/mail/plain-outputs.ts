type Data = Readonly<Record<string, unknown>>;

const OUTPUT = /\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}/;
/** Words that mean something else than a property to Liquid (in any place of a path), and `now`, which is the engine's. */
const SPECIAL = new Set('true false nil null empty blank undefined now size first last and or not contains'.split(' '));
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/**
 * Most campaigns hold nothing but `{{ path.of.names }}`; for those an engine costs ten times as much as what it does.
 *
 * @returns Renders as the engine would, or null where it must be asked: at once when the template holds anything else,
 *   for one recipient when a value on the path is neither a plain object nor text, number, boolean or missing.
 */
export function compilePlainOutputs(source: string, kind: 'html' | 'plain'): ((data: Data) => string | null) | null {
  // split() with one group gives text and path by turns.
  const pieces = source.split(OUTPUT);
  const texts = pieces.filter((_piece, index) => index % 2 === 0);
  const paths = pieces.filter((_piece, index) => index % 2 === 1).map((path) => path.split('.'));
  // A brace before an output makes the engine see an output of something else.
  if (texts.some((text) => /\{[{%]|\{$/.test(text)) || paths.flat().some((name) => SPECIAL.has(name))) return null;
  const [start = '', ...rest] = texts;
  const outputs = paths.map((path, index) => ({ path, text: rest[index] ?? '' }));
  return (data) => {
    let rendered = start;
    for (const { path, text } of outputs) {
      const value = valueAt(data, path);
      if (value === null) return null;
      rendered += (kind === 'html' ? escaped(value) : value) + text;
    }
    return rendered;
  };
}

/** null: a case for the engine. */
function valueAt(data: Data, path: readonly string[]): string | null {
  let value: unknown = data;
  for (const name of path) {
    if (value === undefined || value === null) return '';
    if (!isPlainObject(value)) return null;
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  if (value === undefined || value === null) return '';
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function isPlainObject(value: unknown): value is Data {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !('toLiquid' in value);
}

function escaped(value: string): string {
  return /[&<>"']/.test(value) ? value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : value;
}
