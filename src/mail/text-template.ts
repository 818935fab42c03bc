import { compile } from 'html-to-text';
import { compileTemplate, type CompiledTemplate } from './template.ts';

/** Depth of nested elements; deeper ones are left out of the text part. */
const MAX_DEPTH = 100;
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

const convert = compile({
  wordwrap: false,
  selectors: [
    ...HEADINGS.map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', options: { uppercaseHeaderCells: false } },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'skip' },
  ],
  limits: { maxInputLength: 2_000_000, maxDepth: MAX_DEPTH },
});

/** @returns The readable text of rendered HTML, or null when it cannot be converted. */
export function htmlToText(html: string): string | null {
  try {
    return convert(html);
  } catch {
    return null;
  }
}

const LIQUID = /\{%[\s\S]*?%\}|\{\{[\s\S]*?\}\}/g;
/** Private-use characters: no parser of HTML changes or splits them. */
const OPEN = '\u{f0000}';
const CLOSE = '\u{f0001}';
const PLACEHOLDER = new RegExp(`${OPEN}(\\d+)${CLOSE}`, 'gu');
const TAG_BETWEEN_CELLS = new RegExp(
  `(?:<(?:ul|ol|table|tbody|thead|tfoot|tr)\\b[^>]*>|</(?:li|tr|td|th|tbody|thead|tfoot)\\s*>)\\s*${OPEN}`,
  'iu',
);
/** Filters whose result is meant for HTML only. */
const MARKUP_FILTER = /\|\s*(?:raw|escape|escape_once|xml_escape|newline_to_br)\b/;

/**
 * Turns the *template* of the HTML part into a template of the text part, so that no recipient pays for a conversion.
 *
 * @returns The compiled text template, or null when the text would not be right for every recipient (Liquid tags that
 *   the conversion drops or moves, loops over list items or table rows, outputs that hold markup): then the rendered
 *   HTML must be converted for each recipient.
 */
export function textTemplateFromHtml(html: string): CompiledTemplate | null {
  if (html.includes(OPEN) || html.includes(CLOSE)) return null;
  const pieces: string[] = [];
  const marked = html.replaceAll(LIQUID, (piece) => `${OPEN}${pieces.push(piece) - 1}${CLOSE}`);
  if (pieces.some((piece) => MARKUP_FILTER.test(piece)) || TAG_BETWEEN_CELLS.test(marked)) return null;
  const text = htmlToText(marked);
  // Braces that were written as entities are text in the HTML and would become code here.
  if (text === null || /\{[{%]/.test(text)) return null;
  if (!keepsTagsInOrder(text, pieces)) return null;
  const source = text.replaceAll(PLACEHOLDER, (_match, index: string) => pieces[Number(index)] ?? '');
  const compiled = compileTemplate(source, 'plain');
  return compiled.ok ? compiled.template : null;
}

function keepsTagsInOrder(text: string, pieces: readonly string[]): boolean {
  const kept = [...text.matchAll(PLACEHOLDER)].map((match) => pieces[Number(match[1])] ?? '');
  return tagsOf(kept).join('\n') === tagsOf(pieces).join('\n');
}

function tagsOf(pieces: readonly string[]): string[] {
  return pieces.filter((piece) => piece.startsWith('{%'));
}
