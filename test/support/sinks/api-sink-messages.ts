import type { ApiAnswer, ApiDialect, ApiRequest, Effect, MessageRefusal, Submission } from './api-dialects/dialect.ts';

/** What a request is about: one message, or those of a batch. */
export interface Messages {
  readonly each: readonly (Submission | MessageRefusal)[];
  /** null for a batch. */
  readonly reference: string | null;
  readonly key: string | null;
  /** What the vendor would not take for its form, of whichever message. */
  readonly flaws: readonly string[];
  /** Why nothing at all is taken. */
  readonly refused: string | null;
  /** @param results by index */
  answer(results: readonly (Effect | MessageRefusal)[]): ApiAnswer;
}

const NO_ANSWER: ApiAnswer = { status: 501, headers: {}, body: 'this vendor has no such answer' };

export async function readMessages(dialect: ApiDialect, request: ApiRequest): Promise<Messages> {
  return dialect.batch !== undefined && dialect.route(request.method, request.path) === 'batch'
    ? await readBatch(dialect, dialect.batch, request)
    : await readSingle(dialect, request);
}

async function readSingle(dialect: ApiDialect, request: ApiRequest): Promise<Messages> {
  const read = await dialect.read(request);
  const answer = ([result]: readonly (Effect | MessageRefusal)[]): ApiAnswer => {
    if (result === undefined) return NO_ANSWER;
    return 'id' in result
      ? dialect.accept(result, request)
      : (dialect.refuse(result.refusal, result.reason) ?? NO_ANSWER);
  };
  if (typeof read === 'string') return { each: [], reference: null, key: null, flaws: [read], refused: read, answer };
  return { each: [read], reference: read.reference, key: read.key, flaws: [], refused: null, answer };
}

async function readBatch(
  dialect: ApiDialect,
  habit: NonNullable<ApiDialect['batch']>,
  request: ApiRequest,
): Promise<Messages> {
  const about = {
    reference: null,
    key: null,
    answer: (results: readonly (Effect | MessageRefusal)[]) => habit.accept(results),
  };
  const parts = habit.split(request);
  if (typeof parts === 'string') return { ...about, each: [], flaws: [parts], refused: parts };
  const read = await Promise.all(parts.map(async (part) => await dialect.read(part)));
  const flaws = read.filter((each) => typeof each === 'string');
  const each = read.map((one) => (typeof one === 'string' ? { refusal: 'bad-request' as const, reason: one } : one));
  const key = each.flatMap((one) => ('key' in one && one.key !== null ? [one.key] : []))[0] ?? null;
  const refused = habit.isPermissive(request) ? null : (flaws[0] ?? null);
  return { ...about, key, each, flaws, refused };
}
