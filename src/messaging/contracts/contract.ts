import type { z } from 'zod';

import type { TopicName } from '../topics.ts';

/**
 * What is agreed about one event type. The one source for validation, for TypeScript's types and for the documents.
 * `entityKey` is the part after `tenant/` of the Kafka key.
 */
export interface Contract<Type extends string = string, Data = unknown> {
  /** `ce_type`, with its version. */
  readonly type: Type;
  readonly topic: TopicName;
  readonly description: string;
  readonly schema: z.ZodType<Data>;
  readonly example: Data;
  entityKey(data: Data): string;
}

/** Types the parts of a contract against each other; the schema says what `Data` is. */
export function defineContract<const Type extends string, Schema extends z.ZodType>(
  contract: Omit<Contract<Type, z.infer<Schema>>, 'schema'> & { readonly schema: Schema },
): Contract<Type, z.infer<Schema>> {
  return contract as Contract<Type, z.infer<Schema>>;
}
