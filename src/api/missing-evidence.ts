import { planResolution, type PlannedProvider, type UnknownHistory } from '../dispatch/resolve/plan-resolution.ts';
import type { Abilities } from '../providers/abilities.ts';

/** What may still tell of an unknown outcome without a person. */
export type MissingEvidence =
  /** The key can be used again, now or later. */
  | 'key-window-open'
  /** The provider will be asked. */
  | 'lookup-pending'
  /** A receipt is waited for. */
  | 'receipt-pending'
  /** Only a person, or a receipt that nobody waits for any more. */
  | 'nothing';

const NONE = {
  key: { kind: 'none' },
  lookup: { kind: 'none' },
  receipt: { kind: 'none' },
  batch: { kind: 'none' },
} as const;

/**
 * Pure. Asks the planner itself, with one ability at a time and nobody who waits or decides, so that the two cannot disagree.
 *
 * @param provider undefined for one that is no longer configured
 */
export function missingEvidence(provider: PlannedProvider | undefined, history: UnknownHistory): MissingEvidence[] {
  if (!provider) return ['nothing'];
  const steps = history.steps.filter(({ step }) => step !== 'person');
  const expects = (ability: Partial<Abilities>): boolean => {
    const abilities = { ...NONE, limits: provider.abilities.limits, ...ability };
    return planResolution({ ...provider, abilities }, { ...history, steps, onUnknown: 'hold' }).do !== 'hold';
  };
  const { key, lookup, receipt } = provider.abilities;
  const missing: MissingEvidence[] = [];
  if (expects({ key })) missing.push('key-window-open');
  if (expects({ lookup })) missing.push('lookup-pending');
  if (expects({ receipt })) missing.push('receipt-pending');
  return missing.length > 0 ? missing : ['nothing'];
}
