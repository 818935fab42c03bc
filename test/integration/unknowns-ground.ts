import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { NewOperation } from '../../src/operations/request-operations/insert-operations.ts';
import type { CallOutcome } from '../../src/providers/provider.port.ts';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { ScriptedProvider, type Worker } from '../support/dispatch-worker.ts';
import { startService, type ServiceProcess } from '../support/service.ts';

export const AMBIGUOUS: CallOutcome = { kind: 'ambiguous', code: 'timeout', diagnostic: 'no answer in time' };

/** Tokens by what they may do; the text is the name. */
const TOKENS = {
  demo: { reader: ['read'], operator: ['read', 'operate'], requester: ['request'], decider: ['operate'] },
  other: { 'other-operator': ['read', 'operate'] },
} as const;
export type TokenName = keyof (typeof TOKENS)['demo'] | keyof (typeof TOKENS)['other'];

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Record<string, unknown>;
}

/** A database with dispatchers in this process, and the API in a process of its own. */
export interface UnknownsGround {
  readonly rig: DispatchRig;
  readonly service: ServiceProcess;
  ask(path: string, token?: TokenName): Promise<Answer>;
  /** `body` that is text or bytes goes as it is. */
  post(path: string, body: unknown, token?: TokenName, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  tearDown(): Promise<void>;
}

export async function createGround(databaseUrl: string, template: string): Promise<UnknownsGround> {
  const rig = await createDispatchRig(databaseUrl, template);
  const folder = await mkdtemp(join(tmpdir(), 'einmal-unknowns-'));
  const configFile = join(folder, 'einmal.yaml');
  await writeFile(configFile, configText(rig));
  // The API alone talks to no broker.
  const place = { databaseUrl: rig.database.url, kafkaBrokers: '127.0.0.1:9', topicPrefix: 'rig.', configFile };
  const service = await startService({ ...place, roles: ['api'], logFile: join(folder, 'service.log') });
  await service.ready();
  return {
    rig,
    service,
    ask: async (path, token = 'operator') => await answerOf(await fetch(`${service.url}${path}`, bearer(token))),
    post: async (path, body, token = 'operator', headers = { 'content-type': 'application/json' }) => {
      const bytes = body instanceof Buffer ? new Uint8Array(body) : undefined;
      const sent = bytes ?? (typeof body === 'string' ? body : JSON.stringify(body));
      const init = { method: 'POST', body: sent, headers: { ...bearer(token).headers, ...headers } };
      return await answerOf(await fetch(`${service.url}${path}`, init));
    },
    tearDown: async () => {
      await service.kill();
      await rig.tearDown();
      await rm(folder, { recursive: true });
    },
  };
}

function bearer(token: TokenName): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${token}` } };
}

async function answerOf(response: Response): Promise<Answer> {
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, body: (await response.json()) as Record<string, unknown> };
}

function tokensOf(tenant: keyof typeof TOKENS) {
  return Object.entries(TOKENS[tenant]).map(([name, scopes]) => {
    return { name, sha256: hash('sha256', name, 'hex'), scopes };
  });
}

function configText({ sink }: DispatchRig): string {
  const smtp = { kind: 'smtp', host: sink.host, port: sink.port, security: 'none' };
  return stringify({
    tenants: {
      demo: { tokens: tokensOf('demo'), senders: ['example.org'], provider: 'main', providers: ['peer', 'silent'] },
      other: { tokens: tokensOf('other'), senders: ['example.org'], provider: 'main', providers: ['private'] },
    },
    providers: {
      main: smtp,
      private: smtp,
      peer: { kind: 'kafka', receiptWaitSeconds: 3600 },
      silent: { kind: 'kafka', receiptWaitSeconds: null },
    },
  });
}

/** Called once, with no answer that says anything. */
export async function makeUnknown(
  rig: DispatchRig,
  names: readonly string[],
  parts: Partial<NewOperation> = {},
): Promise<Worker> {
  await rig.request(names, parts);
  const tenants = [parts.tenantId ?? 'demo'];
  const worker = rig.worker({ provider: new ScriptedProvider(() => AMBIGUOUS), tenants });
  await worker.workUntil('them to be unknown', async () => {
    const wanted = `SELECT FROM operations WHERE operation_key = ANY ($1) AND state <> 'unknown'`;
    return (await rig.query(wanted, [names])).length === 0;
  });
  return worker;
}

export interface AuditRow {
  readonly tenant_id: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly reason: string;
  readonly before: unknown;
  readonly after: unknown;
}

export async function auditRows(rig: DispatchRig): Promise<AuditRow[]> {
  return await rig.query<AuditRow>(
    'SELECT tenant_id, actor, action, object, reason, before, after FROM audit ORDER BY audit_id',
  );
}

/** Outcomes of the steps that people have taken. */
export async function peopleSteps(rig: DispatchRig): Promise<string[]> {
  const rows = await rig.query<{ outcome: string }>(`SELECT outcome FROM evidence WHERE step = 'person'`);
  return rows.map(({ outcome }) => outcome);
}
