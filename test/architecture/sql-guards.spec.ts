import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDispatchRig, type DispatchRig } from '../support/dispatch-rig.ts';
import { commitBatchReplay, readBatch } from './sql-guards/batch-replays.ts';
import { cancelOperations } from './sql-guards/cancel-operations.ts';
import { cancelUncalled } from './sql-guards/cancel-uncalled.ts';
import { claimOperations } from './sql-guards/claim-operations.ts';
import { commitIntents } from './sql-guards/commit-intents.ts';
import { endClaims } from './sql-guards/end-claims.ts';
import { observe, textOf, without } from './sql-guards/guard-case.ts';
import { recordResults } from './sql-guards/record-results.ts';
import { redriveOperations } from './sql-guards/redrive-operations.ts';
import { rescueExpired } from './sql-guards/rescue-expired.ts';
import { retention } from './sql-guards/retention.ts';
import { settleUnknowns } from './sql-guards/settle-unknowns.ts';
import { probeProvider, stopProvider } from './sql-guards/provider-stops.ts';
import { claimUnknowns, commitReplays, recordReplays, settleByEvidence } from './sql-guards/resolve.ts';
import { storeCheckpoints } from './sql-guards/store-checkpoints.ts';

let rig: DispatchRig;

beforeAll(async () => {
  rig = await createDispatchRig(inject('databaseUrl'), inject('templateDatabase'));
});
afterAll(async () => await rig.tearDown());
beforeEach(async () => await rig.reset());

const resolution = [
  storeCheckpoints,
  claimUnknowns,
  commitReplays,
  recordReplays,
  settleByEvidence,
  stopProvider,
  probeProvider,
];
const statements = [
  ...resolution,
  claimOperations,
  commitIntents,
  commitBatchReplay,
  readBatch,
  endClaims,
  recordResults,
  rescueExpired,
  cancelOperations,
  redriveOperations,
  settleUnknowns,
  ...retention,
  cancelUncalled,
];

describe.each(statements)('$file', ({ file, cases }) => {
  const text = textOf(file);

  it.each(cases)('$guard', async (each) => {
    expect(await observe(each, rig, file, text)).toEqual(each.seen);
  });

  it.each(cases)('fails without: $guard', async (each) => {
    const cut = without(text, each.cuts);
    expect(cut).not.toBe(text);
    const seen = await observe(each, rig, file, cut);
    expect(seen).not.toEqual(each.seen);
    // Class 42 is text that means nothing: the cut itself was wrong.
    expect(String(seen)).not.toMatch(/^error 42/);
  });
});
