import type { DispatchRig } from '../../support/dispatch-rig.ts';
import type { AnyStatement, GuardCase, GuardedStatement } from './guard-case.ts';

const PAGE = { tenant: 'demo', days: 30, page_size: 100 };
const CAMPAIGN = { campaign: 'c', after: '', before: 'scrubbed:' };

/** Ended so many days ago, as accepted unless told otherwise. */
async function end(rig: DispatchRig, name: string, days: number, state = 'accepted'): Promise<void> {
  await rig.query(
    `UPDATE operations SET state = $2, state_reason = 'x', claim_seq = 1, changed_at = now() - make_interval(days => $3)
     WHERE operation_key = $1`,
    [name, state, days],
  );
}

async function markScrubbed(rig: DispatchRig, ...names: readonly string[]): Promise<void> {
  await rig.query(
    `UPDATE operations SET scrubbed_at = now(), address_key = 'scrubbed:' || operation_id WHERE operation_key = ANY ($1)`,
    [names],
  );
}

async function endCampaign(rig: DispatchRig, days: number): Promise<void> {
  await rig.query(`UPDATE campaigns SET state = 'completed', ended_at = now() - make_interval(days => $1)`, [days]);
}

/** Keys of the operations that the statement found. */
async function found(
  rig: DispatchRig,
  statement: AnyStatement,
  parameters: Record<string, unknown>,
): Promise<string[]> {
  const rows = await statement.run(rig.dataSource, parameters);
  const keys = await rig.query<{ operation_key: string }>(
    'SELECT operation_key FROM operations WHERE operation_id = ANY ($1) ORDER BY 1',
    [rows.map((row) => row['operation_id'])],
  );
  return keys.map((row) => row.operation_key);
}

const STATES = `
  AND o.state IN ('accepted', 'delivered', 'bounced', 'complained', 'suppressed', 'rejected', 'expired', 'cancelled', 'dead')`;
const OLD = `
  AND o.changed_at < now() - make_interval(days => :days)`;
const ANY_AGE = ' AND :days::integer IS NOT NULL';
/** A parameter that is cut out would not be sent. */
const ANY_TENANT: readonly [string, string] = ['o.tenant_id = :tenant AND', ':tenant::text IS NOT NULL AND'];

/** What both pages over single operations have in common; `ready` makes one that is found of one that ended. */
function singles(ready: (rig: DispatchRig, ...names: string[]) => Promise<void>): GuardCase[] {
  return [
    {
      guard: 'not what is unknown',
      cuts: [[STATES, '']],
      seen: ['a'],
      scenario: async (rig, statement) => {
        await rig.request(['a', 'u']);
        await ready(rig, 'a', 'u');
        await end(rig, 'a', 31);
        await end(rig, 'u', 31, 'unknown');
        return await found(rig, statement, PAGE);
      },
    },
    {
      guard: 'not what ended lately',
      cuts: [[OLD, ANY_AGE]],
      seen: ['a'],
      scenario: async (rig, statement) => {
        await rig.request(['a', 'young']);
        await ready(rig, 'a', 'young');
        await end(rig, 'a', 31);
        await end(rig, 'young', 29);
        return await found(rig, statement, PAGE);
      },
    },
    {
      guard: 'not of another tenant',
      cuts: [ANY_TENANT],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.request(['theirs'], { tenantId: 'other' });
        await ready(rig, 'theirs');
        await end(rig, 'theirs', 31);
        return await found(rig, statement, PAGE);
      },
    },
    {
      guard: 'not of a campaign, which has a time of its own',
      cuts: [[' AND o.campaign_id IS NULL', '']],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await ready(rig, 'a');
        await end(rig, 'a', 31);
        return await found(rig, statement, PAGE);
      },
    },
  ];
}

const findOperationsToScrub: GuardedStatement = {
  file: 'retention/find-operations-to-scrub.sql',
  cases: [
    ...singles(async () => undefined),
    {
      guard: 'not again',
      cuts: [[' AND o.scrubbed_at IS NULL', '']],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await end(rig, 'a', 31);
        await markScrubbed(rig, 'a');
        return await found(rig, statement, PAGE);
      },
    },
  ],
};

const findOperationsToForget: GuardedStatement = {
  file: 'retention/find-operations-to-forget.sql',
  cases: [
    ...singles(markScrubbed),
    {
      guard: 'not before it was scrubbed',
      cuts: [[' AND o.scrubbed_at IS NOT NULL', '']],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.request(['a']);
        await end(rig, 'a', 31);
        return await found(rig, statement, PAGE);
      },
    },
  ],
};

const findCampaignOperations: GuardedStatement = {
  file: 'retention/find-campaign-operations.sql',
  cases: [
    {
      guard: 'not what is unknown',
      cuts: [[STATES, '']],
      seen: ['a'],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a', 'open']);
        await end(rig, 'a', 31);
        await end(rig, 'open', 31, 'unknown');
        return await found(rig, statement, { ...PAGE, ...CAMPAIGN });
      },
    },
    {
      guard: 'not what ended lately',
      cuts: [[OLD, ANY_AGE]],
      seen: ['a'],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a', 'late']);
        await end(rig, 'a', 31);
        await end(rig, 'late', 29);
        return await found(rig, statement, { ...PAGE, ...CAMPAIGN });
      },
    },
    {
      guard: 'not of another campaign',
      cuts: [[' AND o.campaign_id = :campaign', ' AND :campaign::text IS NOT NULL']],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.campaign('another', ['a']);
        await end(rig, 'a', 31);
        return await found(rig, statement, { ...PAGE, ...CAMPAIGN });
      },
    },
    {
      guard: 'not of another tenant',
      cuts: [ANY_TENANT],
      seen: [],
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a'], { tenantId: 'other' });
        await end(rig, 'a', 31);
        return await found(rig, statement, { ...PAGE, ...CAMPAIGN });
      },
    },
  ],
};

const isMarked = async (rig: DispatchRig, statement: AnyStatement, tenant = 'demo'): Promise<boolean> => {
  await statement.run(rig.dataSource, { tenant, campaign: 'c' });
  return (await rig.query('SELECT FROM campaigns WHERE scrubbed_at IS NOT NULL')).length > 0;
};

const finishScrubbing: GuardedStatement = {
  file: 'retention/finish-scrubbing.sql',
  cases: [
    {
      guard: 'not while an address is left before the scrubbed ones',
      cuts: [[`o.address_key < 'scrubbed:'`, 'false']],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a', 'b']);
        await markScrubbed(rig, 'b');
        await endCampaign(rig, 31);
        return await isMarked(rig, statement);
      },
    },
    {
      guard: 'not while an address is left behind the scrubbed ones',
      cuts: [[`o.address_key >= 'scrubbed;'`, 'false']],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a', 'z']);
        await markScrubbed(rig, 'a');
        await endCampaign(rig, 31);
        return await isMarked(rig, statement);
      },
    },
    {
      guard: 'not while it goes on',
      cuts: [['c.ended_at IS NOT NULL AND ', '']],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await markScrubbed(rig, 'a');
        return await isMarked(rig, statement);
      },
    },
    {
      guard: 'only of this tenant',
      cuts: [['c.tenant_id = :tenant AND', ':tenant::text IS NOT NULL AND']],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await markScrubbed(rig, 'a');
        await endCampaign(rig, 31);
        return await isMarked(rig, statement, 'other');
      },
    },
  ],
};

const isGone = async (rig: DispatchRig, statement: AnyStatement): Promise<boolean> => {
  await statement.run(rig.dataSource, { tenant: 'demo', campaign: 'c' });
  return (await rig.query('SELECT FROM campaigns')).length === 0;
};

const forgetCampaign: GuardedStatement = {
  file: 'retention/forget-campaign.sql',
  cases: [
    {
      guard: 'not while it has operations',
      cuts: [
        [
          `
    AND NOT EXISTS (SELECT FROM operations o WHERE o.tenant_id = c.tenant_id AND o.campaign_id = c.campaign_id)`,
          '',
        ],
      ],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.campaign('c', ['a']);
        await endCampaign(rig, 401);
        await rig.query('UPDATE campaigns SET scrubbed_at = now()');
        return await isGone(rig, statement);
      },
    },
    {
      guard: 'not while it tells who was left out',
      cuts: [
        [
          `
    AND NOT EXISTS (SELECT FROM campaign_exclusions x WHERE x.tenant_id = c.tenant_id AND x.campaign_id = c.campaign_id)`,
          '',
        ],
      ],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.campaign('c', []);
        await endCampaign(rig, 401);
        await rig.query('UPDATE campaigns SET scrubbed_at = now()');
        await rig.query(`INSERT INTO campaign_exclusions VALUES ('demo', 'c', 'x', 'same-address')`);
        return await isGone(rig, statement);
      },
    },
    {
      guard: 'not before it was scrubbed',
      cuts: [[' AND c.scrubbed_at IS NOT NULL', '']],
      seen: false,
      scenario: async (rig, statement) => {
        await rig.campaign('c', []);
        return await isGone(rig, statement);
      },
    },
  ],
};

export const retention: readonly GuardedStatement[] = [
  findOperationsToScrub,
  findOperationsToForget,
  findCampaignOperations,
  finishScrubbing,
  forgetCampaign,
];
