/** What an operation gets when its request does not say. */
export class OperationSettings {
  constructor(readonly maxAttempts: number) {}
}
