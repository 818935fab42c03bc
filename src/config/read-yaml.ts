import { type Document, isNode, isPair, LineCounter, parseDocument, type YAMLError } from 'yaml';
import type { ConfigPath, ConfigRule } from './config-error.ts';

/** A configuration of hundreds of tenants is far below this; above it is another file, given by mistake. */
export const MAX_FILE_BYTES = 1_048_576;
/** Uses of one anchor are counted with all that they expand to: a bomb passes this at once. */
const MAX_ALIASES = 50;

export interface YamlError {
  readonly rule: ConfigRule;
  readonly message: string;
  readonly line: number | null;
}

export interface ReadYaml {
  /** undefined when the text gives no usable value. */
  readonly value: unknown;
  readonly errors: readonly YamlError[];
  /** Line of the key or entry at this path, or of its nearest parent that is in the file. */
  lineOf(path: ConfigPath): number | null;
}

export function readYaml(text: string): ReadYaml {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) {
    return failed({ rule: 'too-large', message: `is larger than ${MAX_FILE_BYTES} bytes`, line: null });
  }
  const lines = new LineCounter();
  // No pretty errors: they quote the line, which may hold a secret.
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, uniqueKeys: true, strict: true });
  const errors = [...document.errors, ...document.warnings].map((error) => describe(error, lines));
  const lineOf = (path: ConfigPath): number | null => findLine(document, path, lines);
  // A repeated key leaves a readable rest, so that all other errors can be told in the same run.
  if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return { value: undefined, errors, lineOf };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown, errors, lineOf };
  } catch {
    // Its text may name what it met, and an unquoted password may begin with `*`.
    const message = 'has an alias (*name) without an anchor (&name) before it, or far too many of them';
    return failed({ rule: 'not-yaml', message, line: null });
  }
}

function failed(error: YamlError): ReadYaml {
  return { value: undefined, errors: [error], lineOf: () => null };
}

const SENTENCES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'has a key that stands in this map already',
  MULTIPLE_DOCS: 'has a second document (---)',
  TAG_RESOLVE_FAILED: 'has a tag (!name) or a value that YAML 1.2 does not know',
  RESOURCE_EXHAUSTION: 'is nested too deep',
};

/** The library's sentences may quote the text, so its codes get sentences of ours. */
function describe({ code, pos }: YAMLError, lines: LineCounter): YamlError {
  return {
    rule: code === 'RESOURCE_EXHAUSTION' ? 'too-large' : 'not-yaml',
    message: SENTENCES[code] ?? `is not YAML here (${code.toLowerCase().replaceAll('_', ' ')})`,
    line: lines.linePos(pos[0]).line,
  };
}

function findLine(document: Document.Parsed, path: ConfigPath, lines: LineCounter): number | null {
  for (let length = path.length; length > 0; length -= 1) {
    const start = startOf(document, path.slice(0, length));
    if (start !== null) return lines.linePos(start).line;
  }
  return null;
}

function startOf(document: Document.Parsed, path: ConfigPath): number | null {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  if (typeof parent !== 'object' || parent === null || !('items' in parent) || !Array.isArray(parent.items))
    return null;
  const found: unknown = parent.items.find((item: unknown, index) =>
    isPair(item) ? isNode(item.key) && String(item.key) === last : index === last,
  );
  const node: unknown = isPair(found) ? found.key : found;
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}
