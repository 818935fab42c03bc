import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { asyncApiDocument } from '../../src/messaging/contracts/asyncapi.ts';

/** The whole document is one schema to the validator, so that references in it lead where they lead for a peer. */
const DOCUMENT = 'asyncapi';
const document = asyncApiDocument();
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
addFormats.default(ajv);
// Strict mode would take the document's own members for misspelt keywords.
ajv.addVocabulary(Object.keys(document));
ajv.addSchema({ ...document, $id: DOCUMENT });

export interface ReadPlace {
  /** The channel it was read from; any when absent. */
  readonly channel?: string;
  /** The Kafka key; not looked at when absent. */
  readonly key?: string;
}

/**
 * What is wrong with a message by the AsyncAPI document, or null. A peer that has nothing but that document would find the
 * same. Texts name members and rules, never values.
 * @param value the bytes of the record's value, which the document says is JSON
 */
export function validateEvent(
  headers: Readonly<Record<string, string>>,
  value: Buffer | null,
  { channel, key }: ReadPlace = {},
): string | null {
  const type = headers['ce_type'] ?? '';
  if (!Object.hasOwn(document.components.messages, type)) return 'ce_type: no such message';
  if (channel !== undefined && !Object.hasOwn(document.channels[channel]?.messages ?? {}, type))
    return `${type}: not a message of the channel ${channel}`;
  const at = `components/messages/${type}`;
  const flaws = [
    ...flawsOf('headers', `${at}/headers`, headers),
    ...flawsOf('data', `${at}/payload/schema`, parsed(value)),
    ...(key === undefined ? [] : flawsOf('key', `${at}/bindings/kafka/key`, key)),
  ];
  return flaws.length === 0 ? null : `${type}: ${flaws.join('; ')}`;
}

/** The same for a record of the dead letters, which has no type of its own. */
export function validateDeadLetter(headers: Readonly<Record<string, string>>): string | null {
  const flaws = flawsOf('headers', 'components/messages/dead-letter/headers', headers);
  return flaws.length === 0 ? null : flaws.join('; ');
}

function flawsOf(part: string, place: string, data: unknown): string[] {
  const accepts = validatorOf(`${DOCUMENT}#/${place}`);
  if (accepts(data)) return [];
  return (accepts.errors ?? []).map(({ instancePath, message }) => `${part}${instancePath} ${message ?? 'is wrong'}`);
}

const validators = new Map<string, ValidateFunction>();

function validatorOf(reference: string): ValidateFunction {
  const known = validators.get(reference) ?? ajv.compile({ $ref: reference });
  validators.set(reference, known);
  return known;
}

/** Undefined, which no schema takes, for what is not JSON. */
function parsed(value: Buffer | null): unknown {
  try {
    return JSON.parse(value?.toString('utf8') ?? '');
  } catch {
    return undefined;
  }
}
