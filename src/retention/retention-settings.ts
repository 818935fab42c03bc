/** How long a tenant's data is kept, counted from when an operation or a campaign ended. By the database's clock. */
export interface TenantRetention {
  readonly id: string;
  readonly payloadRetentionDays: number;
  readonly keyRetentionDays: number;
  /** What is left of a key that is forgotten: that it was used (a repeat is refused), or nothing (a repeat is new). */
  readonly afterKeyRetention: 'tombstone' | 'nothing';
}
