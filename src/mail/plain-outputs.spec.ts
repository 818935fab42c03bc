import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePlainOutputs } from './plain-outputs.ts';
import { compileTemplate } from './template.ts';

/** The same template with a tag that does nothing goes to the engine. */
function byEngine(source: string, kind: 'html' | 'plain', data: Record<string, unknown>): string {
  const compiled = compileTemplate(`{% comment %}{% endcomment %}${source}`, kind);
  fc.pre(compiled.ok);
  const rendered = compiled.template.render(data, new Date(0));
  if (!rendered.ok) throw new Error(rendered.rule);
  return rendered.text;
}

describe('compilePlainOutputs', () => {
  const name = fc.constantFrom(
    'a',
    'b',
    'c',
    'toString',
    'constructor',
    '__proto__',
    'length',
    'and',
    'or',
    'in',
    'forloop',
  );
  const output = fc.array(name, { minLength: 1, maxLength: 3 }).map((path) => `{{ ${path.join('.')} }}`);
  const text = fc.constantFrom('', ' ', '\n', 'x', '}}', '%}', '{', '<b>', '-', '"');
  const source = fc.array(fc.oneof(output, text), { maxLength: 8 }).map((pieces) => pieces.join(''));
  const leaf = fc.oneof(
    fc.string({ unit: fc.constantFrom('<', '&', '"', "'", 'a', 'ö', '\n') }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const { data } = fc.letrec<{ data: Record<string, unknown>; value: unknown }>((tie) => ({
    data: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'length'), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    value: fc.oneof({ maxDepth: 3 }, leaf, tie('data'), fc.array(leaf, { maxLength: 2 })),
  }));

  it('renders what the engine renders, or leaves it to the engine', () => {
    let taken = 0;
    fc.assert(
      fc.property(source, fc.constantFrom('html', 'plain'), data, (template, kind, values) => {
        const quick = compilePlainOutputs(template, kind)?.(values) ?? null;
        taken += quick === null ? 0 : 1;
        expect(quick ?? byEngine(template, kind, values)).toBe(byEngine(template, kind, values));
      }),
      { numRuns: 3000 },
    );
    expect(taken).toBeGreaterThan(500);
  });

  it.each([
    '{{ a | upcase }}',
    '{% if a %}{% endif %}',
    '{{- a }}',
    '{{ a[0] }}',
    '{{ "a" }}',
    '{{ now }}',
    '{{ a.size }}',
    '{{ a-b }}',
    '{{',
  ])('leaves %s to the engine', (template) => {
    expect(compilePlainOutputs(template, 'plain')).toBeNull();
  });

  it('leaves values that are not plain to the engine', () => {
    const quick = compilePlainOutputs('{{ a.b }}', 'plain');
    expect(quick?.({ a: { b: 1 } })).toBe('1');
    for (const a of ['text', [1], { b: [1] }, { b: {} }, new Date(0), { toLiquid: () => 1 }])
      expect(quick?.({ a })).toBeNull();
  });
});
