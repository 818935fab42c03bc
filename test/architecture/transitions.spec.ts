import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAMPAIGN_TRANSITIONS, type CampaignState } from '../../src/campaigns/campaign.states.ts';
import {
  mayFollow,
  OPERATION_STATES,
  REDRIVABLE_STATES,
  type OperationState,
} from '../../src/operations/operation.states.ts';
import { projectRoot } from '../support/stack/folders.ts';

const textOf = (file: string): string => readFileSync(join(projectRoot, 'src', file), 'utf8');

it.each<[string, CampaignState, CampaignState]>([
  ['campaigns/approve-campaign/approve-campaign.sql', 'drafted', 'approved'],
  ['campaigns/materialise-campaign/begin-sending.sql', 'materialising', 'sending'],
  ['campaigns/control-campaign/pause-campaign.sql', 'sending', 'paused'],
  ['campaigns/control-campaign/resume-campaign.sql', 'paused', 'sending'],
  ['campaigns/complete-campaign/complete-campaigns.sql', 'sending', 'completed'],
])('%s goes from %s to %s, as the table of transitions allows', (file, from, to) => {
  expect(textOf(file)).toMatch(new RegExp(`SET state = '${to}'[^]*WHERE[^]*state = '${from}'`));
  expect(CAMPAIGN_TRANSITIONS[from]).toContain(to);
});

it.each<[string, OperationState, OperationState]>([
  ['dispatch/commit-intents.sql', 'claimed', 'calling'],
  ['operations/queue-approved/queue-approved.sql', 'awaiting-approval', 'queued'],
])('%s goes from %s to %s, as the table of transitions allows', (file, from, to) => {
  expect(textOf(file)).toMatch(new RegExp(`SET state = '${to}'[^]*WHERE[^]*o\\.state = '${from}'`));
  expect(mayFollow(from, to)).toBe(true);
});

it('redrive-operations.sql goes to queued from what the table of transitions allows, and from nothing else', () => {
  const text = textOf('operations/redrive-operations/redrive-operations.sql');
  const [, list = ''] = /SET state = 'queued'[^]*o\.state IN \(([^)]*)\)/.exec(text) ?? [];
  expect(list.split(', ').map((word) => word.replaceAll("'", ''))).toEqual(REDRIVABLE_STATES);
  const inMotion = new Set<OperationState>(['awaiting-approval', 'claimed', 'calling', 'unknown']);
  const ended = OPERATION_STATES.filter((state) => mayFollow(state, 'queued') && !inMotion.has(state));
  expect(ended.toSorted()).toEqual(REDRIVABLE_STATES.toSorted());
});
