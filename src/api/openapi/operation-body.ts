import { jsonSchemaOf, type JsonSchema } from '../../messaging/contracts/json-schema.ts';
import { contractOf } from '../../messaging/contracts/registry.ts';
import { MAX_ASKED } from '../schemas/decisions.schema.ts';

const KEY = 'operationKey';

/** One operation, whose key may be in the header, or many, whose keys are not. */
export function operationBody(): JsonSchema {
  const { $schema: _, title: _title, ...contract } = jsonSchemaOf(contractOf('einmal.operation.requested.v1'));
  const forms = contract.oneOf ?? contract.anyOf ?? [];
  return {
    anyOf: [
      ...forms.map(keyMayBeInHeader),
      {
        type: 'object',
        description: 'Many operations, each with its own key.',
        properties: {
          operations: { type: 'array', minItems: 1, maxItems: MAX_ASKED, items: { oneOf: forms } },
        },
        required: ['operations'],
        additionalProperties: false,
      },
    ],
  };
}

function keyMayBeInHeader(form: JsonSchema): JsonSchema {
  return { ...form, required: (form.required ?? []).filter((name) => name !== KEY) };
}
