/** One step as the ledger keeps it: what was asked for, and what the configuration said of it at that moment. */
export interface FrozenStep {
  readonly name: string;
  readonly version: number;
  readonly kind: 'email' | 'http';
  readonly request: Readonly<Record<string, unknown>>;
  readonly approval?: { readonly object: string; readonly revision: number };
  readonly provider: string;
  /** Of the recipient of a mail. */
  readonly addressKey: string | null;
}

export interface FrozenSteps {
  readonly steps: readonly FrozenStep[];
}

/** What earlier steps have answered, by name; as templates see it under `steps`. No `result`: it is not known. */
export type StepResults = Readonly<Record<string, { readonly result?: unknown; readonly effectId: string | null }>>;
