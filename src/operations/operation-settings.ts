/** What an operation gets when its request does not say, and what the configuration says of providers. */
export class OperationSettings {
  constructor(
    readonly maxAttempts: number,
    /** Providers that are peers on Kafka. */
    readonly peers: ReadonlySet<string> = new Set(),
  ) {}
}
