import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import { ServiceError } from '../../runtime/service-error.ts';
import { account, ambiguous, rejectedMessage, throttled, type Verdict } from '../verdict.ts';
import { type Answer, jsonOf } from '../wire/answer.ts';
import { type JsonPath, parseJsonPath, readJsonPath } from './json-path.ts';

type Config = ProviderConfigOf<'http'>;
type Matcher = NonNullable<Config['answers']['accepted']>[number];
type Match = (answer: Answer, json: unknown) => boolean;

/** Whether the answer is an acceptance, which the caller reads on. */
export type Ruling = 'accepted' | Verdict;

/** The answers of an endpoint as configured; the first rule that fits decides. */
export function answerRules({ answers, key }: Pick<Config, 'answers' | 'key'>): (answer: Answer) => Ruling {
  const rejects = key?.kind === 'reject-duplicate';
  const rules: readonly (readonly [Match, (answer: Answer) => Ruling])[] = [
    // A key that is refused on repeat is usually refused with 409, and one that is replayed answers so while it is at work.
    [anyOf(answers.duplicate ?? (rejects ? [409] : [])), () => ({ kind: 'duplicate' })],
    [anyOf(answers.concurrent ?? (key?.kind === 'replay' ? [409] : [])), () => ({ kind: 'concurrent' })],
    [anyOf(answers.mismatch ?? (key?.comparesPayload === true ? [422] : [])), () => ({ kind: 'key-mismatch' })],
    [answers.throttled === null ? isThrottled : anyOf(answers.throttled), throttled],
    [anyOf(answers.account ?? [401, 402, 403, 407, '3xx']), () => account],
    [anyOf(answers.accepted ?? ['2xx']), () => 'accepted'],
    // 408: the request may have been read, and what became of it is not said.
    [answers.rejected === null ? isOther4xx : anyOf(answers.rejected), () => rejectedMessage],
  ];
  return (answer) => {
    const json = jsonOf(answer);
    const rule = rules.find(([match]) => match(answer, json));
    return rule === undefined ? ambiguous : rule[1](answer);
  };
}

function isThrottled({ status, headers }: Answer): boolean {
  return status === 429 || (status === 503 && headers['retry-after'] !== undefined);
}

function isOther4xx({ status }: Answer): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

function anyOf(matchers: readonly Matcher[]): Match {
  const matches = matchers.map((matcher) => matchOf(matcher));
  return (answer, json) => matches.some((match) => match(answer, json));
}

function matchOf(matcher: Matcher): Match {
  if (typeof matcher === 'number') return ({ status }) => status === matcher;
  if (typeof matcher === 'string') return ({ status }) => String(status)[0] === matcher[0];
  const path = jsonPathOf(matcher.jsonPath);
  return ({ status }, json) => status === matcher.status && saysSame(readJsonPath(json, path), matcher.equals);
}

/** Texts, numbers and truth values are compared as they are written. */
export function saysSame(value: unknown, text: string): boolean {
  return (
    (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') && String(value) === text
  );
}

/** Of a path that the configuration has checked. @throws ServiceError `bad-json-path` */
export function jsonPathOf(text: string): JsonPath {
  const path = parseJsonPath(text);
  if (path === null) throw new ServiceError('bad-json-path', 'not a path of names and indexes', { retryable: false });
  return path;
}
