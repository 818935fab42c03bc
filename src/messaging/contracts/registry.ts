import type { TopicName } from '../topics.ts';
import { approvalGranted, approvalWithdrawn } from './approval.v1.ts';
import { campaignFacts } from './campaign-fact.v1.ts';
import {
  campaignCancelRequested,
  campaignPauseRequested,
  campaignResumeRequested,
  campaignRevisionSubmitted,
} from './campaign-request.v1.ts';
import type { Contract } from './contract.ts';
import { deliveryRequested } from './delivery.v1.ts';
import { operationFacts } from './operation-fact.v1.ts';
import { operationCancelRequested, operationRequested } from './operation-request.v1.ts';
import { providerFacts } from './provider-fact.v1.ts';
import { receiptReported } from './receipt.v1.ts';
import { subscriberDeleted, subscriberUpserted } from './subscriber.v1.ts';
import {
  suppressionAdded,
  suppressionLifted,
  suppressionLiftRequested,
  suppressionRequested,
} from './suppression.v1.ts';

const consumed = [
  subscriberUpserted,
  subscriberDeleted,
  suppressionRequested,
  suppressionLiftRequested,
  campaignRevisionSubmitted,
  campaignPauseRequested,
  campaignResumeRequested,
  campaignCancelRequested,
  approvalGranted,
  approvalWithdrawn,
  operationRequested,
  operationCancelRequested,
  receiptReported,
] as const;

const produced = [
  ...operationFacts,
  ...campaignFacts,
  suppressionAdded,
  suppressionLifted,
  ...providerFacts,
  deliveryRequested,
] as const;

/** For callers that have looked up a contract and go on to check data against it. */
export { validate } from './validate.ts';

type AnyContract = (typeof consumed)[number] | (typeof produced)[number];

/** A `ce_type` that peers publish and this service consumes. */
export type ConsumedType = (typeof consumed)[number]['type'];

/** A `ce_type` that this service publishes. */
export type ProducedType = (typeof produced)[number]['type'];

/** Every `ce_type` of the contracts, consumed or produced. */
export type EventType = ConsumedType | ProducedType;

/** The `data` of a type. */
export type DataOf<Type extends EventType> =
  Extract<AnyContract, { readonly type: Type }> extends Contract<Type, infer Data> ? Data : never;

export type ConsumedContract = Contract<ConsumedType>;
export type ProducedContract = Contract<ProducedType>;

/** All contracts by `ce_type`. */
export const contracts: ReadonlyMap<string, Contract> = byType([...consumed, ...produced]);
const consumedByType = byType<ConsumedContract>(consumed);
const producedByType = byType<ProducedContract>(produced);

/** The contract of a type that is consumed, if there is one. */
export function consumedContract(type: string): ConsumedContract | undefined {
  return consumedByType.get(type);
}

/** The contract of a type that is produced, if there is one. */
export function producedContract(type: string): ProducedContract | undefined {
  return producedByType.get(type);
}

export function contractOf<Type extends EventType>(type: Type): Contract<Type, DataOf<Type>> {
  const contract = contracts.get(type);
  if (contract === undefined) {
    throw new TypeError('not a type of the contracts');
  }
  return contract as Contract<Type, DataOf<Type>>;
}

/** The contracts whose records go over a topic, in the order of the documentation. */
export function contractsOfTopic(topic: TopicName): readonly Contract[] {
  return [...contracts.values()].filter((contract) => contract.topic === topic);
}

/** One type, one topic, one direction: a second contract of the same type would make that untrue. */
export function byType<Any extends Contract>(list: readonly Any[]): ReadonlyMap<string, Any> {
  const map = new Map<string, Any>();
  for (const contract of list) {
    if (map.has(contract.type)) {
      throw new TypeError(`the type ${contract.type} has two contracts`);
    }
    map.set(contract.type, contract);
  }
  return map;
}
