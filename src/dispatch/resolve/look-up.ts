import type { LookupOutcome, LookupQuery, Outgoing, Provider } from '../../providers/provider.port.ts';

/** `sawCanary`: a later effect of the same account was visible just before the miss. */
export interface LookedUp {
  readonly outcome: LookupOutcome;
  readonly sawCanary: boolean;
}

/**
 * Asks the provider. A miss is checked against a canary where there is one: first whether the later effect can be seen, and
 * then once more for ours, which must be visible before it.
 */
export async function lookUp(
  provider: Provider,
  query: LookupQuery,
  canary: LookupQuery | null,
  timeoutMs: number,
): Promise<LookedUp> {
  const outcome = await ask(provider, query, timeoutMs);
  if (outcome.kind !== 'miss' || canary === null) return { outcome, sawCanary: false };
  const seen = await ask(provider, canary, timeoutMs);
  if (seen.kind !== 'hit') return { outcome, sawCanary: false };
  return { outcome: await ask(provider, query, timeoutMs), sawCanary: true };
}

async function ask(provider: Provider, query: LookupQuery, timeoutMs: number): Promise<LookupOutcome> {
  const nothing = { kind: 'failed', retryAfterMs: null, code: 'no-lookup', diagnostic: 'it cannot be asked' } as const;
  return (await provider.lookup?.(query, timeoutMs)) ?? nothing;
}

/** By what a provider may find an effect. */
export function lookupQuery(reference: string, outgoing: Outgoing | null, since: Date): LookupQuery {
  const mail = outgoing?.kind === 'email' ? outgoing : null;
  return { reference, recipient: mail?.envelope.to ?? null, subject: mail?.parts.subject ?? null, since };
}
