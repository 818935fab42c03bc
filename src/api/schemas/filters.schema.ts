import { z } from 'zod';
import { NAME_FORM, NAME_RULE, strictMap, wholeNumber } from '../../config/schema-parts.ts';
import { id, storedText } from '../../messaging/contracts/fields.ts';
import { parseRfc3339 } from '../../messaging/rfc3339.ts';
import { WALK_NAMES, type ListPosition } from '../../operations/list-operations/walks.ts';
import { OPERATION_STATES } from '../../operations/operation.states.ts';

const MAX_PAGE = 200;
const TEN_YEARS_S = 315_360_000;

const limit = wholeNumber(1, MAX_PAGE).default(50);
const NOT_A_POSITION = 'must be the next of an earlier answer';

/** Where a page of unknowns ended. */
export interface UnknownsPosition {
  readonly position: string;
  readonly operationId: string;
}

const POSITION =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** Opaque to clients: base64url of `time/operationId`. */
export function writePosition({ position, operationId }: UnknownsPosition): string {
  return Buffer.from(`${position}/${operationId}`).toString('base64url');
}

const unknownsPosition = storedText(200).transform((text, context): UnknownsPosition => {
  const [, position, operationId] = POSITION.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (position && operationId && parseRfc3339(position)) return { position, operationId };
  context.addIssue({ code: 'custom', message: NOT_A_POSITION });
  return { position: '', operationId: '' };
});

export const unknownsFilters = strictMap({
  limit,
  after: unknownsPosition.optional(),
  provider: storedText(63).regex(NAME_FORM, NAME_RULE).optional(),
  campaign: id.optional(),
  olderThanSeconds: wholeNumber(0, TEN_YEARS_S).optional(),
});
export type UnknownsFilters = z.output<typeof unknownsFilters>;

const LIST_POSITION =
  /^([a-z]+)\/((?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)?)\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** Opaque to clients: base64url of `walk/time/operationId`. */
export function writeListPosition({ walk, position, operationId }: ListPosition): string {
  return Buffer.from(`${walk}/${position}/${operationId}`).toString('base64url');
}

const listPosition = storedText(200).transform((text, context): ListPosition => {
  const [, name = '', position = '', operationId = ''] =
    LIST_POSITION.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const walk = WALK_NAMES.find((each) => each === name);
  const timeIsRight = walk === 'campaign' ? position === '' : parseRfc3339(position) !== null;
  if (walk && operationId && timeIsRight) return { walk, position, operationId };
  context.addIssue({ code: 'custom', message: NOT_A_POSITION });
  return { walk: 'campaign', position: '', operationId: '' };
});

export const operationsFilters = strictMap({
  limit,
  after: listPosition.optional(),
  state: z.enum(OPERATION_STATES).optional(),
  provider: storedText(63).regex(NAME_FORM, NAME_RULE).optional(),
  campaign: id.optional(),
  olderThanSeconds: wholeNumber(0, TEN_YEARS_S).optional(),
});
export type OperationsFilters = z.output<typeof operationsFilters>;

export const auditFilters = strictMap({
  limit,
  after: storedText(18)
    .regex(/^[1-9]\d*$/, NOT_A_POSITION)
    .optional(),
  object: storedText(600).optional(),
});
export type AuditFilters = z.output<typeof auditFilters>;

export const noFilters = strictMap({});
