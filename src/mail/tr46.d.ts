declare module 'tr46' {
  /** UTS #46 options; every check is off unless asked for. */
  export interface ToAsciiOptions {
    readonly checkHyphens?: boolean;
    readonly checkBidi?: boolean;
    readonly checkJoiners?: boolean;
    readonly useSTD3ASCIIRules?: boolean;
    readonly verifyDNSLength?: boolean;
    readonly transitionalProcessing?: boolean;
    readonly ignoreInvalidPunycode?: boolean;
  }
  const tr46: {
    /** The domain in A-labels, lower case; null when it is not a valid domain. */
    toASCII(domain: string, options?: ToAsciiOptions): string | null;
  };
  export default tr46;
}
