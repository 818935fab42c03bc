import { Liquid, type LiquidOptions, type Template } from 'liquidjs';
import { compilePlainOutputs } from './plain-outputs.ts';
import { scrubAddresses } from './scrub-addresses.ts';

/** What a template may read: plain JSON data, e.g. `{ subscriber: { email, attributes }, campaign: { id } }`. */
export type TemplateData = Readonly<Record<string, unknown>>;
export type Rendered = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly rule: string };

export interface CompiledTemplate {
  /** `now`: what `{{ "now" | date: ... }}` means, so that every attempt renders the same bytes. */
  render(data: TemplateData, now: Date): Rendered;
}
export type TemplateResult =
  { readonly ok: true; readonly template: CompiledTemplate } | { readonly ok: false; readonly rule: string };

/** Characters of one template. */
export const MAX_TEMPLATE_LENGTH = 500_000;
/** Milliseconds; only a template that loops without building anything gets this far. */
const RENDER_LIMIT_MS = 1000;
/** Characters and array entries that one rendering may build. */
const MEMORY_LIMIT = 5_000_000;
const MAX_RULE_LENGTH = 200;

const DATE_FILTERS = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'];
/** They read files, or give another result at each call. */
const REMOVED_TAGS = ['include', 'render', 'layout', 'block'];
const REMOVED_FILTERS = ['sample'];

/** The strict ones and `path` refuse what is not there; `path` makes each output one segment or value of a URL. */
export type TemplateKind = 'html' | 'plain' | 'strict-html' | 'strict-plain' | 'path';

const engines: Readonly<Record<TemplateKind, Liquid>> = {
  html: createEngine({ outputEscape: 'escape' }),
  plain: createEngine({}),
  'strict-html': createEngine({ strictVariables: true, outputEscape: 'escape' }),
  'strict-plain': createEngine({ strictVariables: true }),
  path: createEngine({ strictVariables: true, outputEscape: (value: unknown) => encodeURIComponent(String(value)) }),
};

/**
 * Parses a Liquid template once. Variables that are not there render empty (a subscriber without a name must still get
 * the mail); filters and tags that are not there are refused here. No files, no prototypes, no clock, no randomness.
 *
 * @param kind `html` escapes every output unless it ends in `| raw`; `plain` escapes nothing. In the strict ones and `path` a
 *   variable that is not there is an error.
 */
export function compileTemplate(source: string, kind: TemplateKind): TemplateResult {
  if (source.length > MAX_TEMPLATE_LENGTH) return { ok: false, rule: `longer than ${MAX_TEMPLATE_LENGTH} characters` };
  const engine = engines[kind];
  let parsed: Template[];
  try {
    parsed = engine.parse(source);
  } catch (error) {
    return { ok: false, rule: whyRefused(error) };
  }
  const quick = kind === 'html' || kind === 'plain' ? compilePlainOutputs(source, kind) : null;
  return { ok: true, template: { render: (data, now) => quickly(quick?.(data)) ?? render(engine, parsed, data, now) } };
}

function quickly(text: string | null | undefined): Rendered | null {
  return typeof text === 'string' ? { ok: true, text } : null;
}

function render(engine: Liquid, parsed: Template[], data: TemplateData, now: Date): Rendered {
  const globals = { now: now.toISOString() };
  const deadline = performance.now() + RENDER_LIMIT_MS;
  try {
    return { ok: true, text: String(engine.renderSync(parsed, data, { globals })) };
  } catch (error) {
    // The limit is a time of the wall: a process that was stopped in the middle must not give another answer than one
    // that was not. A template that is really too slow fails again.
    return performance.now() < deadline
      ? { ok: false, rule: whyRefused(error) }
      : renderAgain(engine, parsed, data, globals);
  }
}

function renderAgain(engine: Liquid, parsed: Template[], data: TemplateData, globals: object): Rendered {
  try {
    return { ok: true, text: String(engine.renderSync(parsed, data, { globals })) };
  } catch (error) {
    return { ok: false, rule: whyRefused(error) };
  }
}

function createEngine(options: Pick<LiquidOptions, 'outputEscape' | 'strictVariables'>): Liquid {
  const engine = new Liquid({
    strictVariables: false,
    ...options,
    templates: {},
    strictFilters: true,
    ownPropertyOnly: true,
    parseLimit: MAX_TEMPLATE_LENGTH,
    renderLimit: RENDER_LIMIT_MS,
    memoryLimit: MEMORY_LIMIT,
    timezoneOffset: 0,
    locale: 'en-US',
  });
  for (const tag of REMOVED_TAGS) delete engine.tags[tag];
  for (const filter of REMOVED_FILTERS) delete engine.filters[filter];
  for (const filter of DATE_FILTERS) fixNow(engine, filter);
  return engine;
}

function fixNow(engine: Liquid, name: string): void {
  const original = engine.filters[name];
  if (typeof original !== 'function') throw new Error(`liquidjs has no filter ${name}`);
  engine.registerFilter(name, function (value: unknown, ...rest: unknown[]): unknown {
    const fixed: unknown = value === 'now' || value === 'today' ? this.context.getSync(['now']) : value;
    return original.call(this, fixed, ...rest);
  });
}

function whyRefused(error: unknown): string {
  return scrubAddresses(error instanceof Error ? error.message : 'the template cannot be read', [], MAX_RULE_LENGTH);
}
