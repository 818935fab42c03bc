import { fileURLToPath } from 'node:url';
import { mayStart } from '../support/stack/live-servers.ts';
import { startStack, StackUnavailable, stopAllServers, stopServersOnSignals, type Stack } from '../support/stack/stack.ts';
import { openJourney, watch, type Journey } from './journey.ts';
import { collectEvidence, judge, mailsPerSecond, type OptOut } from './judge.ts';
import { countEnded, countIn, isSettled, type Standing } from './ledger.ts';
import { bar, createNarrator, grouped } from './narrator.ts';
import { publishAudience, publishCampaign, publishOptOuts } from './peer-acts.ts';
import { reportOf } from './report.ts';
