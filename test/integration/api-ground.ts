import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { answerFlaw } from '../support/openapi-judge.ts';
import { startService, type ServiceProcess } from '../support/service.ts';

/** Tokens by what they may do; the text is the name. */
const TOKENS = {
  demo: {
    all: ['read', 'request', 'operate'],
    reader: ['read'],
    requester: ['request'],
    decider: ['operate'],
  },
  other: { 'other-all': ['read', 'request', 'operate'] },
} as const;
export type TokenName = keyof (typeof TOKENS)['demo'] | keyof (typeof TOKENS)['other'];

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface Sent {
  readonly token?: TokenName | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes go as they are. */
  readonly body?: unknown;
}

/**
 * A database with dispatchers in this process, and the API in a process of its own. Each answer is held to the OpenAPI document.
 */
export interface ApiGround {
  readonly rig: DispatchRig;
  readonly service: ServiceProcess;
  call(method: string, path: string, sent?: Sent): Promise<Answer>;
  get(path: string, token?: TokenName): Promise<Answer>;
  post(path: string, body: unknown, sent?: Omit<Sent, 'body'>): Promise<Answer>;
  tearDown(): Promise<void>;
}

export interface GroundParts {
  /** Members of each token, by its name. */
  readonly tokens?: Readonly<Partial<Record<TokenName, object>>>;
}

const PLENTY = { rate: { perSecond: 100_000, burst: 1_000_000 } };

export async function createApiGround(
  databaseUrl: string,
  template: string,
  parts: GroundParts = {},
): Promise<ApiGround> {
  const rig = await createDispatchRig(databaseUrl, template);
  const folder = await mkdtemp(join(tmpdir(), 'einmal-api-'));
  const configFile = join(folder, 'einmal.yaml');
  await writeFile(configFile, configText(rig, parts));
  // The API alone talks to no broker.
  const place = { databaseUrl: rig.database.url, kafkaBrokers: '127.0.0.1:9', topicPrefix: 'rig.', configFile };
  const service = await startService({ ...place, roles: ['api'], logFile: join(folder, 'service.log') });
  await service.ready();
  const call: ApiGround['call'] = async (method, path, { token = 'all', headers = {}, body } = {}) => {
    const answer = await answerOf(
      await fetch(`${service.url}${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: bytesOf(body) }),
      }),
    );
    const flaw = answerFlaw(method, path, answer);
    if (flaw !== null) throw new Error(`not as the OpenAPI document says: ${flaw}`);
    return answer;
  };
  return {
    rig,
    service,
    call,
    get: async (path, token = 'all') => await call('GET', path, { token }),
    post: async (path, body, sent = {}) => await call('POST', path, { ...sent, body }),
    tearDown: async () => {
      await service.kill();
      await rig.tearDown();
      await rm(folder, { recursive: true });
    },
  };
}

function bytesOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Buffer) return new Uint8Array(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
}

async function answerOf(response: Response): Promise<Answer> {
  const type = response.headers.get('content-type') ?? '';
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, type, headers: response.headers, body };
}

function tokensOf(tenant: keyof typeof TOKENS, { tokens = {} }: GroundParts) {
  const more = new Map<string, object>(Object.entries(tokens));
  return Object.entries(TOKENS[tenant]).map(([name, scopes]) => {
    return { name, sha256: hash('sha256', name, 'hex'), scopes, ...PLENTY, ...more.get(name) };
  });
}

function configText({ sink }: DispatchRig, parts: GroundParts): string {
  const smtp = { kind: 'smtp', host: sink.host, port: sink.port, security: 'none' };
  return stringify({
    tenants: {
      demo: {
        tokens: tokensOf('demo', parts),
        senders: ['news@einmal.example', 'example.org'],
        provider: 'main',
        providers: ['crm'],
      },
      other: {
        tokens: tokensOf('other', parts),
        senders: ['news@einmal.example', 'example.org'],
        provider: 'main',
      },
    },
    providers: {
      main: smtp,
      crm: { kind: 'http', baseUrl: 'https://crm.example.org' },
    },
  });
}
