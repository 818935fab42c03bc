import { describe, expect, it } from 'vitest';
import { compileTemplate, MAX_TEMPLATE_LENGTH, type TemplateData } from './template.ts';

const NOW = new Date('2026-11-29T15:00:00Z');

function rendered(source: string, data: TemplateData = {}, kind: 'html' | 'plain' = 'plain'): unknown {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) return compiled;
  const result = compiled.template.render(data, NOW);
  return result.ok ? result.text : result;
}

describe('compileTemplate', () => {
  it('fills what is there and leaves empty what is not', () => {
    const data = { subscriber: { email: 'a@b.org', attributes: { name: 'Jane' } }, campaign: { id: 'c1' } };
    expect(
      rendered('{{ subscriber.attributes.name }}/{{ subscriber.attributes.no.way }}/{{ campaign.id }}', data),
    ).toBe('Jane//c1');
  });

  it('escapes outputs in html only, unless raw is asked for', () => {
    const data = { x: `<a href="b">&'` };
    expect(rendered('{{ x }}', data, 'html')).toBe('&lt;a href=&#34;b&#34;&gt;&amp;&#39;');
    expect(rendered('{{ x | raw }}', data, 'html')).toBe(data.x);
    expect(rendered('{{ x }}', data)).toBe(data.x);
  });

  it.each([
    '{% if a',
    '{{ a',
    '{% if a %}',
    '{% nothing %}',
    '{{ a | nothing }}',
    '{% include "x" %}',
    '{% render "x" %}',
    '{% layout "x" %}',
    '{% block x %}{% endblock %}',
    '{{ a | sample }}',
    'x'.repeat(MAX_TEMPLATE_LENGTH + 1),
  ])('refuses %.40s', (source) => {
    expect(compileTemplate(source, 'html').ok).toBe(false);
  });

  it('keeps prototypes out of reach', () => {
    expect(rendered('{{ constructor }}{{ a.constructor }}{{ a.__proto__ }}{{ a.toString }}', { a: {} })).toBe('');
  });

  it('takes the date of the operation for now, in UTC', () => {
    expect(rendered('{{ "now" | date: "%Y-%m-%d %H:%M %z" }} {{ "today" | date_to_xmlschema }} {{ now }}')).toBe(
      '2026-11-29 15:00 +0000 2026-11-29T15:00:00+00:00 2026-11-29T15:00:00.000Z',
    );
    expect(rendered('{{ "2020-02-03T00:00:00Z" | date: "%d %B" }}')).toBe('03 February');
  });

  it('stops what builds too much', () => {
    expect(rendered('{% for i in (1..100000000) %}{% endfor %}')).toMatchObject({ ok: false });
    expect(
      rendered('{% assign s = "xxxxxxxxxx" %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}'),
    ).toMatchObject({
      ok: false,
    });
  });

  it('puts no address into the rule', () => {
    const compiled = compileTemplate('{% jane@b.org %}', 'plain');
    expect(compiled.ok || compiled.rule).not.toContain('jane@b.org');
  });
});
