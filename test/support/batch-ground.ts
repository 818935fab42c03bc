import { postmarkSchema, resendSchema } from '../../src/config/provider-kinds/mail-apis.schema.ts';
import { createPostmarkProvider } from '../../src/providers/postmark/postmark.provider.ts';
import type { Provider } from '../../src/providers/provider.port.ts';
import { createResendProvider } from '../../src/providers/resend/resend.provider.ts';
import type { DispatchRig } from './dispatch-rig.ts';
import type { Worker } from './dispatch-worker.ts';
import { SINK_CREDENTIALS, type ApiRule, type ApiSink } from './sinks/api-sink.ts';

const { apiKey } = SINK_CREDENTIALS;

/** The provider's part of einmal.yaml, with batches, before the sink. */
export function resendAt(sink: ApiSink, parts: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { kind: 'resend', apiKey, baseUrl: sink.apiUrl, allowPrivate: true, connections: 2, batchSize: 10, ...parts };
}

export function resend(sink: ApiSink, parts: Readonly<Record<string, unknown>> = {}): Provider {
  return createResendProvider({ providerName: 'main', ...resendSchema.parse(resendAt(sink, parts)) });
}

export function postmark(sink: ApiSink): Provider {
  const parts = { serverToken: apiKey, baseUrl: sink.apiUrl, allowPrivate: true, connections: 2, batchSize: 10 };
  return createPostmarkProvider({ providerName: 'main', ...postmarkSchema.parse({ kind: 'postmark', ...parts }) });
}

/** What the sink and the ledger know of an operation's calls. */
export interface Called {
  readonly state: string;
  readonly effects: number;
  /** Distinct keys and distinct bytes that the sink has seen for it. */
  readonly keys: readonly string[];
  readonly bodies: number;
  readonly requests: number;
  /** Of its attempts that deliver, the newest last. */
  readonly batches: readonly (string | null)[];
}

export async function calledOf(rig: DispatchRig, sink: ApiSink, name: string): Promise<Called> {
  const { operation_id, state } = await rig.operation(name);
  const seen = (await sink.references()).get(operation_id);
  const rows = await rig.query<{ batch_id: string | null }>(
    `SELECT batch_id FROM attempts WHERE operation_id = $1 AND purpose = 'deliver' ORDER BY claim_seq`,
    [operation_id],
  );
  return {
    state,
    effects: seen?.effects ?? 0,
    keys: seen?.keys ?? [],
    bodies: seen?.hashes.length ?? 0,
    requests: seen?.requests ?? 0,
    batches: rows.map((row) => row.batch_id),
  };
}

/** Each step that was tried for an operation, e.g. `replay accepted`. */
export async function stepsOf(rig: DispatchRig, name: string): Promise<string[]> {
  const { operation_id } = await rig.operation(name);
  const rows = await rig.query<{ said: string }>(
    `SELECT step || ' ' || outcome AS said FROM evidence WHERE operation_id = $1 ORDER BY evidence_id`,
    [operation_id],
  );
  return rows.map((row) => row.said);
}

/** The sink has taken the batch, and its answer is lost; or it has not even taken it. */
export const LOST: ApiRule = { phase: 'accepted', action: { do: 'drop' }, times: 1 };
export const NEVER_ARRIVED: ApiRule = { phase: 'body', action: { do: 'drop' }, times: 1 };

/** All of these in one call, and nobody knows what came of it. */
export async function loseBatch(
  rig: DispatchRig,
  sink: ApiSink,
  names: readonly string[],
  rule: ApiRule = LOST,
): Promise<Worker> {
  await rig.request(names);
  await sink.script('resend', [rule]);
  const worker = rig.worker({ provider: resend(sink) });
  await worker.workUntil('all to be unknown', async () => await rig.allIn('unknown'));
  const { requests } = await sink.stats();
  if (requests !== 1) throw new Error(`${requests} requests instead of one batch`);
  return worker;
}
