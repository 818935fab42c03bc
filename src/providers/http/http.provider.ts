import type { ProviderConfigOf } from '../../config/einmal-config.ts';
import type { Abilities, KeyAbility } from '../abilities.ts';
import { lookupAbility, receiptAbility } from '../mail-api.ts';
import type { Outgoing, Provider } from '../provider.port.ts';
import { NOT_DOCUMENTED, type Verdict } from '../verdict.ts';
import { type Answer, jsonOf, textAt } from '../wire/answer.ts';
import { createWiredProvider, type WiredLookup } from '../wired-provider.ts';
import { answerRules, jsonPathOf, saysSame } from './answer-rules.ts';
import { composeRequest, type Limits, shapeForm, shapeOf, templateOf } from './compose-request.ts';
import { readJsonPath } from './json-path.ts';
import { fillTemplate } from './reference-template.ts';

type Config = ProviderConfigOf<'http'>;

const MAX_BYTES = 10_000_000;

/** Any endpoint that takes JSON by HTTP: what it can do and what its answers mean is configured. */
export function createHttpProvider(config: Config): Provider {
  const { lookup } = config;
  const credentials = credentialHeaders(config.auth);
  const limits: Limits = {
    methods: config.methods,
    paths: config.paths,
    authHeader: Object.keys(credentials)[0] ?? null,
  };
  return createWiredProvider(config, {
    abilities: abilitiesOf(config),
    shape: { ...shapeOf(config) },
    credential: credentialOf(config.auth),
    compose: (outgoing, given) => {
      const shape = shapeForm.safeParse(given);
      if (!shape.success) return { ok: false, rule: 'shape: is not one of this kind of provider' };
      return composeRequest(outgoing, shape.data, limits);
    },
    credentials: async () => await Promise.resolve(credentials),
    judge: judgeWith(config),
    ...(lookup === null ? {} : { lookup: lookUp(lookup, config.headers) }),
  });
}

function abilitiesOf({ key, lookup, receipt }: Config): Abilities {
  return {
    key: key === null ? { kind: 'none' } : keyAbility(key),
    lookup: lookupAbility('by-reference', lookup),
    receipt: receiptAbility(receipt?.waitSeconds ?? null),
    batch: { kind: 'none' },
    limits: { maxBytes: MAX_BYTES },
  };
}

function keyAbility(key: NonNullable<Config['key']>): KeyAbility {
  return {
    kind: key.kind,
    windowMs: key.windowSeconds * 1000,
    marginMs: key.marginSeconds * 1000,
    comparesPayload: key.comparesPayload,
    scope: 'request',
  };
}

function judgeWith(config: Config): (answer: Answer, outgoing: Outgoing) => Verdict {
  const rule = answerRules(config);
  const effectPath = config.effectId === null ? null : jsonPathOf(config.effectId.jsonPath);
  return (answer, outgoing) => {
    const ruling = rule(answer);
    const json = jsonOf(answer);
    if (ruling !== 'accepted') return { ...ruling, words: wordsOf(json) };
    const effectId = effectPath === null ? null : textAt(readJsonPath(json, effectPath));
    // The configuration says where the id stands: an answer without it is somebody else's.
    if (effectPath !== null && effectId === null) return { kind: 'ambiguous', words: NOT_DOCUMENTED };
    const result = outgoing.kind === 'http' && json !== undefined ? { result: json } : {};
    return { kind: 'accepted', effectId, ...result };
  };
}

/** Where errors usually say something (RFC 9457 and its elders). */
function wordsOf(json: unknown): string {
  return (
    textAt(json, 'detail') ??
    textAt(json, 'title') ??
    textAt(json, 'message') ??
    textAt(json, 'error', 'message') ??
    textAt(json, 'error') ??
    ''
  );
}

function lookUp(lookup: NonNullable<Config['lookup']>, headers: Config['headers']): WiredLookup {
  const path = templateOf(lookup.path);
  const found = jsonPathOf(lookup.found.jsonPath);
  const equals = lookup.found.equals === null ? null : templateOf(lookup.found.equals);
  const effectPath = lookup.effectId === null ? null : jsonPathOf(lookup.effectId.jsonPath);
  return {
    compose: ({ reference }) => ({
      method: lookup.method,
      path: fillTemplate(path, reference),
      headers: { accept: 'application/json', ...headers },
      body: null,
    }),
    read: (answer, { reference }) => {
      if (answer.status === 404) return 'miss';
      const json = jsonOf(answer);
      if (answer.status < 200 || answer.status > 299 || json === undefined) return undefined;
      const value = readJsonPath(json, found);
      if (value === undefined || value === null) return 'miss';
      if (equals !== null && !saysSame(value, fillTemplate(equals, reference, String))) return 'miss';
      const effectId = effectPath === null ? null : textAt(readJsonPath(json, effectPath));
      return { kind: 'hit', effectId, state: 'accepted' };
    },
  };
}

function credentialHeaders(auth: Config['auth']): Readonly<Record<string, string>> {
  if (auth === null) return {};
  if ('bearer' in auth) return { authorization: `Bearer ${auth.bearer}` };
  if ('header' in auth) return { [auth.header.name.toLowerCase()]: auth.header.value };
  const { user, password } = auth.basic;
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

function credentialOf(auth: Config['auth']): readonly string[] {
  if (auth === null) return [];
  if ('bearer' in auth) return [auth.bearer];
  if ('header' in auth) return [auth.header.value];
  return [auth.basic.user, auth.basic.password];
}
