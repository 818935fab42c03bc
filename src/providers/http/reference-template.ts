/** The texts around the places where the reference goes: one more than there are places. */
export type ReferenceTemplate = readonly string[];

const PLACE = /\{\{ *reference *\}\}/;

/** A text in which nothing stands between braces but `{{ reference }}`; null for any other. */
export function parseTemplate(text: string): ReferenceTemplate | null {
  const parts = text.split(PLACE);
  return parts.some((part) => /[{}]/.test(part)) ? null : parts;
}

/** @param encode How the reference is written there, e.g. encodeURIComponent for a path. */
export function fillTemplate(template: ReferenceTemplate, reference: string, encode = encodeURIComponent): string {
  return template.join(encode(reference));
}
