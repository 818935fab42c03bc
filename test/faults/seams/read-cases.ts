import { OPERATION_STATES } from '../../../src/operations/operation.states.ts';
import type { DispatchRig } from '../../support/dispatch-rig.ts';
import type { ApiSink } from '../../support/sinks/api-sink.ts';
import type { Case, CaseAttempt, CaseReceipt, CaseStep } from './judge.ts';
import type { ToldEvent } from './told.ts';

interface Row {
  readonly name: string;
  readonly operation_id: string;
  readonly state: Case['state'];
  readonly held: boolean;
  readonly resolved_by: string | null;
  readonly doubled: boolean;
  readonly attempts: CaseAttempt[];
  readonly steps: CaseStep[];
  readonly receipts: CaseReceipt[];
  readonly told: (Omit<ToldEvent, 'state'> & { readonly state: string })[];
}

interface Counted {
  readonly effects: number;
  readonly variants: number;
}

/** Everything about every operation: from the sinks what happened, from the ledger what it says. */
export async function readCases(rig: DispatchRig, api: ApiSink): Promise<Case[]> {
  const rows = await rig.query<Row>(READ);
  const counted = await countsOf(rig, api);
  return rows.map(({ operation_id: id, resolved_by: resolvedBy, told, attempts, steps, receipts, ...row }) => ({
    ...row,
    ...(counted.get(id) ?? { effects: 0, variants: 0 }),
    resolvedBy,
    attempts: attempts.map((each) => ({
      ...each,
      startedAt: new Date(each.startedAt),
      endedAt: each.endedAt && new Date(each.endedAt),
    })),
    steps: steps.map((each) => ({ ...each, at: new Date(each.at) })),
    receipts: receipts.map((each) => ({ ...each, receivedAt: new Date(each.receivedAt) })),
    told: told.map((event) => ({ ...event, state: stateOf(event.state) })),
  }));
}

/** By operation id, which SMTP carries in the Message-ID and APIs as the reference. */
async function countsOf(rig: DispatchRig, api: ApiSink): Promise<Map<string, Counted>> {
  const counted = new Map<string, Counted>();
  const hashes = await rig.sink.hashes();
  for (const [messageId, effects] of await rig.sink.counts()) {
    const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(messageId)?.[0] ?? messageId;
    counted.set(id, { effects, variants: hashes.get(messageId)?.length ?? 0 });
  }
  for (const [id, reference] of await api.references()) {
    counted.set(id, { effects: reference.effects, variants: reference.hashes.length });
  }
  return counted;
}

function stateOf(text: string): ToldEvent['state'] {
  const state = OPERATION_STATES.find((each) => each === text);
  if (!state) throw new Error(`an event tells no state: ${text}`);
  return state;
}

const READ = `
  SELECT o.operation_key AS name, o.operation_id, o.state, o.lease_until IS NOT NULL OR o.claimed_by IS NOT NULL AS held,
    o.resolved_by, o.doubled,
    (SELECT coalesce(json_agg(json_build_object('purpose', a.purpose, 'startedAt', a.started_at,
                                                'endedAt', a.ended_at, 'outcome', a.outcome,
                                                'effectId', a.effect_id) ORDER BY a.claim_seq), '[]')
     FROM attempts a WHERE a.tenant_id = o.tenant_id AND a.operation_id = o.operation_id) AS attempts,
    (SELECT coalesce(json_agg(json_build_object('step', e.step, 'outcome', e.outcome, 'at', e.at) ORDER BY e.evidence_id), '[]')
     FROM evidence e WHERE e.tenant_id = o.tenant_id AND e.operation_id = o.operation_id) AS steps,
    (SELECT coalesce(json_agg(json_build_object('type', r.type, 'receivedAt', r.received_at)), '[]')
     FROM receipts r WHERE r.tenant_id = o.tenant_id AND r.operation_id = o.operation_id) AS receipts,
    (SELECT coalesce(json_agg(json_build_object('type', t.type, 'state', t.data ->> 'state',
                                                'needsPerson', coalesce(t.data ->> 'needsPerson', '') = 'true',
                                                'doubled', coalesce(t.data ->> 'doubled', '') = 'true')
                              ORDER BY t.outbox_id), '[]')
     FROM (SELECT b.outbox_id, convert_from(b.message_value, 'UTF8')::json AS data,
                  (SELECT split_part(h ->> 1, '.', 3) FROM json_array_elements(b.headers) h WHERE h ->> 0 = 'ce_type') AS type
           FROM outbox b) t
     WHERE t.data ->> 'operationId' = o.operation_id::text) AS told
  FROM operations o ORDER BY o.operation_key`;
