import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAMPAIGN_TRANSITIONS, type CampaignState } from '../../src/campaigns/campaign.states.ts';
import { mayFollow, type OperationState } from '../../src/operations/operation.states.ts';
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
