import { z } from 'zod';
import { environmentValue, type Environment } from '../config/env.ts';

/** What the service answered, or why there is no answer. `status` is null when it was not reached. */
export type Answer<T> =
  | { readonly ok: true; readonly body: T }
  | { readonly ok: false; readonly status: number | null; readonly problem: string };

/** The service's HTTP API under a tenant's token. */
export interface ApiClient {
  get<T>(path: string, answer: z.ZodType<T>): Promise<Answer<T>>;
  post<T>(path: string, body: unknown, answer: z.ZodType<T>): Promise<Answer<T>>;
}

export const ENVIRONMENT_HELP = [
  'Environment:',
  '  EINMAL_URL    where the service answers (default http://127.0.0.1:8080)',
  '  EINMAL_TOKEN  the token of a tenant',
  '',
].join('\n');

const TIMEOUT_MS = 30_000;
const DEFAULT_URL = 'http://127.0.0.1:8080';
const PROBLEM = z.object({ detail: z.string() });

/** A client, or what is wrong with the environment. */
export function clientOf(env: Environment): ApiClient | string {
  const token = environmentValue(env, 'EINMAL_TOKEN');
  if (token === undefined) return 'EINMAL_TOKEN is required';
  if (!/^[\x21-\x7e]{1,512}$/.test(token)) return 'EINMAL_TOKEN must be 1 to 512 visible ASCII characters';
  const base = environmentValue(env, 'EINMAL_URL') ?? DEFAULT_URL;
  if (!/^https?:\/\/[^/]/.test(base) || !URL.canParse(base)) return 'EINMAL_URL must be an http or https URL';
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const urlOf = (path: string): string => `${base.replace(/\/+$/, '')}${path}`;
  return {
    get: async (path, answer) => await ask(urlOf(path), { headers }, answer),
    post: async (path, body, answer) =>
      await ask(urlOf(path), { method: 'POST', headers, body: JSON.stringify(body) }, answer),
  };
}

async function ask<T>(url: string, request: RequestInit, answer: z.ZodType<T>): Promise<Answer<T>> {
  try {
    // A redirect would carry the token elsewhere.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { ...request, redirect: 'error', signal });
    const body: unknown = await response.json().catch(() => null);
    const { status } = response;
    if (!response.ok) {
      const said = PROBLEM.safeParse(body);
      return { ok: false, status, problem: said.success ? said.data.detail : `the service answered ${status}` };
    }
    const read = answer.safeParse(body);
    if (read.success) return { ok: true, body: read.data };
    return { ok: false, status, problem: 'what answers there is not this version of the service' };
  } catch {
    return { ok: false, status: null, problem: `no answer from ${new URL(url).origin}` };
  }
}

/** On one line, whatever the text holds: a key may be any text, and a terminal obeys some of it. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
