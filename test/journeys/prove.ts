import { parseArgs } from 'node:util';
import { agrees } from './evidence.ts';
import type { Journey } from './journey.ts';
import { createNarrator, grouped } from './narrator.ts';
import { prove, PROOF_CONFIG, PROOF_ENV, type ProofPlan } from './prove-journey.ts';
import { reportOf } from './report.ts';
import { runJourney } from './run-journey.ts';

const usage = 'usage: npm run prove -- [--recipients 50000] [--kills 20] [--replicas 2] [--connections 20] [--seed 1]';
const narrator = createNarrator(process.stdout);
const settings = readSettings();
if (settings) {
  const { recipients, connections, ...plan } = settings;
  const config = { ...PROOF_CONFIG, provider: { ...PROOF_CONFIG.provider, connections } };
  narrator.print(
    `Einmal proof: ${grouped(recipients)} recipients, ${plan.kills} kills, ${plan.replicas} of each role, seed ${plan.seed}\n`,
  );
  await runJourney(
    narrator,
    { recipients, config, env: PROOF_ENV },
    async (journey) => await proveAndTell(journey, plan),
  );
} else {
  console.error(usage);
  process.exitCode = 2;
}

async function proveAndTell(journey: Journey, plan: ProofPlan): Promise<boolean> {
  const proof = await prove(journey, plan, narrator);
  const { verdict } = proof;
  narrator.print(reportOf(proof));
  narrator.print(`  Events that the topic holds again, under the same id: ${grouped(proof.repeatedEvents)}`);
  const peaks = [...(await journey.crew.peaks())].map(([role, mib]) => `${role} ${mib}`);
  narrator.print(`  Peak memory of a process, MiB: ${peaks.join(', ')}\n`);
  const lost = await journey.ledger.lostByWorker();
  const line = {
    recipients: journey.recipients.length,
    kills: proof.kills,
    accepted: verdict.byState.accepted ?? 0,
    lost: verdict.lost.length,
    doubled: verdict.doubled.length,
    unknown: verdict.unknown.length,
    /** Of the dispatchers that were killed: the most that one left unknown, and how many did. */
    mostLostByOne: Math.max(0, ...lost),
    dispatchersLost: lost.length,
    mailsPerSecond: proof.mailsPerSecond,
    seed: plan.seed,
  };
  narrator.print(JSON.stringify(line));
  return agrees(verdict) && proof.kills === plan.kills;
}

function readSettings(): (ProofPlan & { readonly recipients: number; readonly connections: number }) | null {
  try {
    const { values } = parseArgs({
      options: {
        recipients: { type: 'string', default: '50000' },
        kills: { type: 'string', default: '20' },
        replicas: { type: 'string', default: '2' },
        connections: { type: 'string', default: '20' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      },
    });
    const { recipients, kills, replicas, connections, seed } = values;
    const read = {
      recipients: Number(recipients),
      kills: Number(kills),
      replicas: Number(replicas),
      connections: Number(connections),
      seed: Number(seed),
    };
    const right = Object.values(read).every((each) => Number.isInteger(each) && each >= 0);
    return right && read.recipients && read.replicas && read.connections ? read : null;
  } catch {
    return null;
  }
}
