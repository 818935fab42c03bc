import type { z } from 'zod';
import type { Scope } from '../../config/tenant.schema.ts';
import type { ProblemName } from '../problem-types.ts';
import * as answers from '../schemas/answers.schema.ts';
import * as decisions from '../schemas/decisions.schema.ts';
import * as filters from '../schemas/filters.schema.ts';
import * as examples from './route-examples.ts';

/** One route of the API, as the document tells it. */
export interface RouteDoc {
  readonly method: 'get' | 'post';
  /** As OpenAPI writes it: `/v1/operations/{key}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** null: no token is needed. */
  readonly scope: Scope | null;
  readonly filters?: z.ZodType;
  readonly body?: Body;
  readonly answers: readonly AnswerDoc[];
  /** Problems with a name that it may answer, beside those of every route. */
  readonly problems?: readonly ProblemName[];
  /** 409 without a name of its own. */
  readonly conflict?: string;
  readonly notFound?: boolean;
}

/** `operation`: the contract of `einmal.operation.requested.v1`, alone or in a list. */
export type Body =
  { readonly schema: z.ZodType; readonly example: unknown } | { readonly operation: true; readonly example: unknown };

export interface AnswerDoc {
  readonly status: number;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly mediaType?: string;
  readonly example?: unknown;
}

const ok = (schema: z.ZodType, description: string, example?: unknown): AnswerDoc => ({
  status: 200,
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});

const KEPT_AS_BY_KAFKA = `The same validation, ledger, transaction and events as by Kafka. The key of one operation is the \`Idempotency-Key\` header or \`operationKey\` in the body; up to ${decisions.MAX_ASKED} operations, each with its own key, are asked for as \`{"operations": [...]}\` and answered one by one in the same order: what is wrong with one does not keep the others from being asked for. What was refused when it arrived is refused again in the same way. Asking leaves no row in the audit: the ledger keeps the request's id as \`causationid\` of the events.`;

const REDRIVE_PROBLEMS: readonly ProblemName[] = [
  'outdated',
  'not-redrivable',
  'refused-at-arrival',
  'scrubbed',
  'campaign-not-sending',
  'provider-not-configured',
];

/** Every route, in the order of the document. */
export const ROUTES: readonly RouteDoc[] = [
  {
    method: 'post',
    path: '/v1/operations',
    operationId: 'askForOperations',
    tag: 'operations',
    summary: 'Ask for an operation, or for many',
    description: KEPT_AS_BY_KAFKA,
    scope: 'request',
    body: { operation: true, example: examples.askedFor },
    answers: [
      {
        status: 202,
        description: 'New; it is queued or waits for its approval.',
        schema: answers.askedAnswer,
        example: examples.asked,
      },
      {
        status: 200,
        description: 'The same was asked for before: its present state and result. Or: one answer for each of many.',
        schema: answers.askedAnswer.or(answers.askedAnswers),
        example: examples.askedAgain,
      },
    ],
    problems: ['conflicted', 'rejected', 'expired', 'cancelled', 'too-old-to-deduplicate'],
  },
  {
    method: 'get',
    path: '/v1/operations',
    operationId: 'listOperations',
    tag: 'operations',
    summary: 'List operations by state, campaign, provider and age',
    description:
      'Oldest first; of a campaign in no order that means something. Each page costs the same whatever the ledger holds, so it may have fewer entries than asked for, even none, and still a next one. Allowed are: a state that ended badly, awaiting-approval, unknown, claimed or calling, with any other filters; a campaign with any other filters; and queued with a provider, which shows the first of the queue, without further pages.',
    scope: 'read',
    filters: filters.operationsFilters,
    answers: [ok(answers.operationPage, 'A page.', examples.operationPage)],
    problems: ['filters-not-allowed'],
  },
  {
    method: 'get',
    path: '/v1/operations/{key}',
    operationId: 'readOperation',
    tag: 'operations',
    summary: 'Read one operation with its evidence',
    scope: 'read',
    filters: filters.noFilters,
    answers: [
      ok(
        answers.operation,
        'The operation: approval, steps, results, attempts, evidence, receipts.',
        examples.operation,
      ),
    ],
    notFound: true,
  },
  {
    method: 'get',
    path: '/v1/operations/by-id/{operationId}',
    operationId: 'readOperationById',
    tag: 'operations',
    summary: 'Read one operation by its id',
    description: 'For keys that do not fit into a path, such as `..`.',
    scope: 'read',
    filters: filters.noFilters,
    answers: [ok(answers.operation, 'The operation, as by its key.')],
    notFound: true,
  },
  {
    method: 'get',
    path: '/v1/operations/by-effect/{effectId}',
    operationId: 'findOperationsByEffect',
    tag: 'operations',
    summary: "Find operations by the provider's id of what it did",
    description:
      'Two providers may give the same id. Of an operation of several steps, the effect of its present step.',
    scope: 'read',
    filters: filters.noFilters,
    answers: [ok(answers.operationsByEffectId, 'At most 50.')],
    notFound: true,
  },
  {
    method: 'post',
    path: '/v1/operations/{key}/resolve',
    operationId: 'resolveOperation',
    tag: 'operations',
    summary: 'Say what became of an unknown outcome',
    scope: 'operate',
    body: { schema: decisions.operationDecision, example: examples.decision },
    answers: [ok(answers.resolvedAnswer, 'Decided.', examples.resolved)],
    conflict: 'It is no longer what was seen; the present state and claim number are told.',
    notFound: true,
  },
  {
    method: 'post',
    path: '/v1/operations/{key}/cancel',
    operationId: 'cancelOperation',
    tag: 'operations',
    summary: 'Cancel an operation before its call',
    description:
      'An operation that nobody has asked for yet is left behind cancelled, as by Kafka: its request will find it so. That it is too late is no error.',
    scope: 'operate',
    body: { schema: decisions.operationCancel, example: { reason: 'the order was cancelled' } },
    answers: [
      ok(answers.cancelAnswer, 'Cancelled, or over before.', examples.cancelled),
      {
        status: 202,
        description: 'Too late: it is being called, and the outcome follows.',
        schema: answers.cancelAnswer,
        example: examples.cancelledTooLate,
      },
    ],
    notFound: true,
  },
  {
    method: 'post',
    path: '/v1/operations/{key}/redrive',
    operationId: 'redriveOperation',
    tag: 'operations',
    summary: 'Start an operation again that is dead, rejected or expired',
    description:
      'Under the same key and with its history. When an attempt may have had an effect, only the same bytes go out again. A deadline that has passed is dropped unless a new one is given.',
    scope: 'operate',
    body: { schema: decisions.operationRedrive, example: { reason: 'the server is well again', claimNumber: 12 } },
    answers: [ok(answers.redrivenAnswer, 'Queued again.', examples.redriven)],
    problems: REDRIVE_PROBLEMS,
    notFound: true,
  },
  {
    method: 'post',
    path: '/v1/operations/redrive',
    operationId: 'redriveOperations',
    tag: 'operations',
    summary: 'Start many operations again, at a rate',
    description: 'In one transaction. What cannot be started again is told by name and left as it is.',
    scope: 'operate',
    body: { schema: decisions.operationsRedrive, example: examples.redriveMany },
    answers: [ok(answers.redrivenAnswers, 'One outcome for each, in the order of the request.')],
  },
  {
    method: 'get',
    path: '/v1/stats',
    operationId: 'readStats',
    tag: 'operations',
    summary: 'Figures of the ledger',
    description:
      'Exact, and as old as the two times say. What is in motion is counted anew after 2 seconds, what has ended after 30; each the less often the longer its count takes, at most a hundredth of the time.',
    scope: 'read',
    filters: filters.noFilters,
    answers: [ok(answers.stats, 'The figures.', examples.stats)],
  },
  {
    method: 'get',
    path: '/v1/unknowns',
    operationId: 'listUnknowns',
    tag: 'unknowns',
    summary: 'List what the service does not know',
    scope: 'read',
    filters: filters.unknownsFilters,
    answers: [ok(answers.unknownsPage, 'A page, oldest first.')],
  },
  {
    method: 'post',
    path: '/v1/unknowns/resolve',
    operationId: 'resolveUnknowns',
    tag: 'unknowns',
    summary: 'Say what became of many unknown outcomes',
    scope: 'operate',
    body: { schema: decisions.unknownsDecision, example: examples.decisions },
    answers: [ok(answers.resolvedAnswers, 'One outcome for each, in the order of the request.')],
  },
  {
    method: 'post',
    path: '/v1/approvals',
    operationId: 'grantApproval',
    tag: 'approvals',
    summary: 'Approve a revision of a campaign, or an operation',
    description: 'It may come before what it speaks of. The same fact as `einmal.approval.granted.v1`.',
    scope: 'operate',
    body: { schema: decisions.approvalGrant, example: examples.grant },
    answers: [ok(answers.approvalAnswer, 'What holds now, and what the campaign has come to.', examples.granted)],
    problems: ['superseded'],
  },
  {
    method: 'post',
    path: '/v1/approvals/withdraw',
    operationId: 'withdrawApproval',
    tag: 'approvals',
    summary: 'Take an approval back',
    scope: 'operate',
    body: {
      schema: decisions.approvalWithdrawal,
      example: { object: 'campaign:cmp_42', revision: 3, reason: 'wrong price' },
    },
    answers: [ok(answers.approvalAnswer, 'What holds now, and what the campaign has come to.')],
    problems: ['superseded'],
  },
  {
    method: 'get',
    path: '/v1/campaigns/{id}',
    operationId: 'readCampaign',
    tag: 'campaigns',
    summary: 'State and counts of a campaign',
    scope: 'read',
    answers: [ok(answers.campaign, 'The campaign.')],
    notFound: true,
  },
  {
    method: 'get',
    path: '/v1/providers',
    operationId: 'listProviders',
    tag: 'providers',
    summary: 'The providers that the tenant may use, and which of them have stopped',
    scope: 'read',
    filters: filters.noFilters,
    answers: [ok(answers.providers, 'All of them.')],
  },
  {
    method: 'post',
    path: '/v1/providers/{name}/resume',
    operationId: 'resumeProvider',
    tag: 'providers',
    summary: 'Let a provider go on that has refused the account',
    scope: 'operate',
    body: { schema: decisions.providerDecision, example: { reason: 'the password was changed' } },
    answers: [ok(answers.resumedAnswer, 'Whether it had stopped.')],
    notFound: true,
  },
  {
    method: 'get',
    path: '/v1/audit',
    operationId: 'listAudit',
    tag: 'audit',
    summary: 'What people decided, newest first',
    scope: 'read',
    filters: filters.auditFilters,
    answers: [ok(answers.auditPage, 'A page.')],
  },
  {
    method: 'post',
    path: '/v1/erasures',
    operationId: 'requestErasure',
    tag: 'erasures',
    summary: 'Erase a person',
    description:
      'Subscribers are emptied at once; requests, addresses, results, receipts and dead letters in pages, which takes its time. Keys and suppressions keep working.',
    scope: 'operate',
    body: { schema: decisions.erasureRequest, example: { email: 'ada@example.org', reason: 'asked for by letter' } },
    answers: [{ status: 202, description: 'Begun.', schema: answers.erasureRequested }],
  },
  {
    method: 'get',
    path: '/v1/erasures/{erasureId}',
    operationId: 'readErasure',
    tag: 'erasures',
    summary: 'How far an erasure is',
    scope: 'operate',
    filters: filters.noFilters,
    answers: [ok(answers.erasure, 'A report in rows; it names nobody.')],
    notFound: true,
  },
  ...open([
    ['/v1/openapi.json', 'readOpenApi', 'This document', answers.document],
    ['/v1/asyncapi.json', 'readAsyncApi', 'The AsyncAPI document of the Kafka side', answers.document],
  ]),
  {
    ...openRoute('/problems/{name}', 'readProblem', 'What a problem means', answers.problemDescription),
    notFound: true,
  },
  ...open([
    ['/health/live', 'readLive', 'Whether the process lives', answers.health],
    ['/health/ready', 'readReady', 'Whether the process can do its work', answers.health],
    ['/health/startup', 'readStartup', 'Whether the process has started', answers.health],
  ]).map(withUnavailable),
  {
    ...openRoute('/metrics', 'readMetrics', 'Figures for Prometheus', answers.health),
    answers: [{ status: 200, description: 'Text.', schema: answers.metrics, mediaType: 'text/plain' }],
  },
];

type Open = readonly [path: string, operationId: string, summary: string, schema: z.ZodType];

function open(routes: readonly Open[]): RouteDoc[] {
  return routes.map((route) => openRoute(...route));
}

function openRoute(...[path, operationId, summary, schema]: Open): RouteDoc {
  return { method: 'get', path, operationId, tag: 'service', summary, scope: null, answers: [ok(schema, summary)] };
}

function withUnavailable(route: RouteDoc): RouteDoc {
  return { ...route, answers: [...route.answers, { status: 503, description: 'Not now.', schema: answers.health }] };
}
