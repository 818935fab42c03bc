/** CloudEvents JSON format; other formats and the batch mode of CloudEvents are not read. */
const STRUCTURED_JSON = 'application/cloudevents+json';
const STRUCTURED_PREFIX = 'application/cloudevents';
const JSON_TYPE = /^(?:(?:application|text)\/json|[\w.+-]+\/[\w.+-]+\+json)$/;
const UTF8_CHARSET = /^"?(?:utf-?8|us-ascii)"?$/;

export type ContentMode = 'binary' | 'structured' | 'unsupported';

/** How the value is to be read, by the `content-type` header (Kafka binding of CloudEvents, section 3). */
export function contentMode(contentType: string | undefined): ContentMode {
  const type = typeOf(contentType ?? '');
  if (type === STRUCTURED_JSON) {
    return 'structured';
  }
  return type.startsWith(STRUCTURED_PREFIX) ? 'unsupported' : 'binary';
}

/** Whether a media type says JSON in UTF-8. Absent means JSON, the default of CloudEvents. */
export function isJson(mediaType: string | undefined): boolean {
  return mediaType === undefined || (JSON_TYPE.test(typeOf(mediaType)) && hasUtf8Charset(mediaType));
}

function typeOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function hasUtf8Charset(mediaType: string): boolean {
  const charset = /;\s*charset=([^;]*)/i.exec(mediaType)?.[1];
  return charset === undefined || UTF8_CHARSET.test(charset.trim().toLowerCase());
}
