import { OPERATION_STATES, type OperationState } from '../../src/operations/operation.states.ts';
import { agrees, type Outcome } from './evidence.ts';
import { grouped } from './narrator.ts';

const NAMES: Partial<Record<OperationState, string>> = {
  accepted: 'accepted by the mail server',
  suppressed: 'opted out during the send',
  unknown: 'unknown, see below',
};
const MOST_LINES = 50;

/** The last table: one row per state, from the ledger and from the sink, then what is unknown and what does not fit. */
export function reportOf(outcome: Outcome): string {
  const { verdict, operations, leftOut, mailsPerSecond } = outcome;
  const states = OPERATION_STATES.filter((state) => verdict.byState[state] !== undefined);
  return [
    '',
    row('', 'ledger', 'mails at the sink'),
    row('audience', grouped(operations.length), ''),
    ...states.map((state) =>
      row(
        `  ${NAMES[state] ?? state}`,
        grouped(verdict.byState[state] ?? 0),
        grouped(verdict.mailsByState[state] ?? 0),
      ),
    ),
    row('lost', '', grouped(verdict.lost.length)),
    row('doubled', '', grouped(verdict.doubled.length)),
    row('left out of the audience', grouped(sum(Object.values(leftOut))), ''),
    ...Object.entries(leftOut).map(([reason, count]) => row(`  ${reason}`, grouped(count), '')),
    row('mails a second, pauses over 1 s not counted', '', grouped(mailsPerSecond)),
    '',
    ...unknownLines(outcome),
    ...atMost(verdict.lost.map((key) => `  lost: ${key}`)),
    ...atMost(verdict.doubled.map((key) => `  doubled: ${key}`)),
    ...atMost(verdict.disagreements.map((text) => `  ${text}`)),
    agrees(verdict)
      ? '  The sink and the ledger agree: nothing lost, nothing doubled.'
      : '  THE SINK AND THE LEDGER DO NOT AGREE.',
  ].join('\n');
}

/** For each unknown operation its evidence, and what the operator would have to find out. */
export function unknownLines({ verdict, attempts }: Outcome): string[] {
  if (verdict.unknown.length === 0) return [];
  const lines = verdict.unknown.map(({ operationKey, arrived }) => {
    const tries = attempts.filter((attempt) => attempt.operationKey === operationKey);
    const evidence = tries.map(
      ({ claimNumber, startedAt, outcome, code }) =>
        `attempt ${claimNumber} ${startedAt.toISOString().slice(11, 23)} ${outcome ?? 'open'} (${code ?? 'no code'})`,
    );
    return `  ${operationKey}  ${evidence.join(', ')}  ${arrived ? 'arrived' : 'did not arrive'}`;
  });
  return [
    '  Unknown: the process died during the call, and SMTP has no way to ask. Each with its evidence,',
    '  and with what only the sink can tell (here an operator would have to find it out):',
    '',
    ...atMost(lines),
    '',
  ];
}

function atMost(lines: readonly string[]): string[] {
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), `  and ${grouped(more)} more`] : [...lines];
}

function row(what: string, ledger: string, sink: string): string {
  return `  ${what.padEnd(46)}${ledger.padStart(9)}${sink.padStart(20)}`.trimEnd();
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
