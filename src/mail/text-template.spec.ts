import { describe, expect, it } from 'vitest';
import { textTemplateFromHtml } from './text-template.ts';

const NOW = new Date(0);

function textOf(html: string, data: Record<string, unknown>): unknown {
  const rendered = textTemplateFromHtml(html)?.render(data, NOW);
  return rendered?.ok === true ? rendered.text : null;
}

describe('textTemplateFromHtml', () => {
  it('keeps outputs and tags as they are written', () => {
    const html =
      '<h1>Hello {{ name | default:  "dear  friend" }}</h1><p>{% if n > 1 %}<b>{{ n }}</b> things &amp; more{% else %}one{% endif %}</p>' +
      '<a href="https://x.example/{{ id }}?a=1&amp;b={{ id }}">click</a><img src="{{ pixel }}">';
    expect(textOf(html, { n: 2, id: 'i7', pixel: 'p' })).toBe(
      'Hello dear  friend\n\n2 things & more\n\nclick [https://x.example/i7?a=1&b=i7]',
    );
    expect(textOf(html, { name: 'a < b', n: 1, id: '' })).toBe(
      'Hello a < b\n\none\n\nclick [https://x.example/?a=1&b=]',
    );
  });

  it('keeps the tags of raw and comment', () => {
    expect(textOf('<p>{% raw %}{{ x }}{% endraw %}{% comment %}no{% endcomment %}y</p>', {})).toBe('{{ x }}y');
  });

  it.each([
    ['markup from data', '<p>{{ x | raw }}</p>'],
    ['text escaped for html', '<p>{{ x | escape }}</p>'],
    ['a loop over list items', '<ul>{% for i in x %}<li>{{ i }}</li>{% endfor %}</ul>'],
    ['a loop over rows', '<table><tr><td>a</td></tr> {% for i in x %}<tr><td>{{ i }}</td></tr>{% endfor %}</table>'],
    ['half of a block in an attribute that is dropped', '<p class="{% if x %}a">b{% endif %}</p>'],
    ['braces written as entities', '<p>&#123;&#123; x }}</p>'],
    ['our own markers', '<p>\u{f0000}</p>'],
  ])('leaves %s to the conversion of each rendered mail', (_what, html) => {
    expect(textTemplateFromHtml(html)).toBeNull();
  });

  it('stands very deep nesting', () => {
    expect(textOf('<div>'.repeat(20_000), {})).not.toBeUndefined();
  });
});
