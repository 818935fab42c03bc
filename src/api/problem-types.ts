/** A problem with a name of its own. */
export interface ProblemType {
  readonly status: number;
  readonly title: string;
  /** When it is told, and what may be done. */
  readonly description: string;
}

/**
 * The problems that programs can act on, by name. Their `type` is `/problems/NAME`, a reference relative to the service, and a GET
 * there shows what stands here. All other problems have the type `about:blank`, and their status says all.
 */
export const PROBLEM_TYPES = {
  conflicted: {
    status: 422,
    title: 'Key Belongs to Another Payload',
    description:
      'The operation key was used before for another payload. Nothing was done for this request, and the first one goes on unchanged. Both hashes and the time of the first request are told.',
  },
  rejected: {
    status: 422,
    title: 'Can Never Be Carried Out',
    description:
      'The request is well formed and can never be carried out, for the reason told. The key is taken; asking again gives the same answer.',
  },
  expired: {
    status: 422,
    title: 'Deadline Had Passed',
    description:
      'The deadline had passed when the request arrived, so nothing will be done. The key is taken; a person may start the operation again with a new deadline.',
  },
  cancelled: {
    status: 422,
    title: 'Cancelled Before It Was Asked For',
    description: 'A cancellation of this key came before the request. Nothing will be done, and the key is taken.',
  },
  'too-old-to-deduplicate': {
    status: 422,
    title: 'Too Old to Deduplicate',
    description:
      'The key was used longer ago than the tenant keeps operations, so a repetition cannot be told from a new request. Nothing was done. For a new effect use a new key.',
  },
  outdated: {
    status: 409,
    title: 'Something Happened Since',
    description:
      'The claim number is not the present one: something was tried or decided since it was read. Look again, then decide again.',
  },
  'not-redrivable': {
    status: 409,
    title: 'State Does Not Allow It',
    description:
      'Only what is dead, rejected or expired can be started again. The present state and claim number are told.',
  },
  'refused-at-arrival': {
    status: 409,
    title: 'Was Never Possible',
    description:
      'The request could never be carried out, and starting it again changes nothing. Ask for it under a new key.',
  },
  scrubbed: {
    status: 409,
    title: 'Contents Are Gone',
    description: 'The contents of the operation were removed after their retention or by an erasure.',
  },
  'campaign-not-sending': {
    status: 409,
    title: 'Campaign Is Not Sending',
    description: 'The operation belongs to a campaign, or to a revision of it, that is not sending now.',
  },
  'provider-not-configured': {
    status: 409,
    title: 'Provider Is Not Configured',
    description: "The operation's provider is none that the tenant may use now.",
  },
  superseded: {
    status: 409,
    title: 'A Newer Decision Is There',
    description:
      'A decision about the same object and revision with a later time is stored, so this one changes nothing.',
  },
  'filters-not-allowed': {
    status: 400,
    title: 'Combination of Filters Is Not Allowed',
    description:
      'No index serves this combination of filters, so it would go through the whole ledger. The allowed combinations are told.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too Many Requests',
    description: 'The rate of the token is used up. `Retry-After` says in how many seconds there is room again.',
  },
} as const satisfies Readonly<Record<string, ProblemType>>;

export type ProblemName = keyof typeof PROBLEM_TYPES;

export function problemType(name: ProblemName): string {
  return `/problems/${name}`;
}

export function isProblemName(name: string): name is ProblemName {
  return Object.hasOwn(PROBLEM_TYPES, name);
}
