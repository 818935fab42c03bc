import type { z } from 'zod';
import { NAME_FORM, NAME_RULE, strictMap, wholeNumber } from '../../config/schema-parts.ts';
import { id, storedText } from '../../messaging/contracts/fields.ts';
import { parseRfc3339 } from '../../messaging/rfc3339.ts';

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

export const auditFilters = strictMap({
  limit,
  after: storedText(18)
    .regex(/^[1-9]\d*$/, NOT_A_POSITION)
    .optional(),
  object: storedText(600).optional(),
});
export type AuditFilters = z.output<typeof auditFilters>;

export const noFilters = strictMap({});
