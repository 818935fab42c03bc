declare module 'html-to-text' {
  export interface SelectorDefinition {
    readonly selector: string;
    readonly format?: string;
    readonly options?: Readonly<Record<string, unknown>>;
  }
  export interface HtmlToTextOptions {
    /** Columns; false keeps lines as they are. */
    readonly wordwrap?: number | false;
    readonly preserveNewlines?: boolean;
    readonly selectors?: readonly SelectorDefinition[];
    readonly limits?: { readonly maxInputLength?: number; readonly maxDepth?: number; readonly ellipsis?: string };
  }
  export function compile(options?: HtmlToTextOptions): (html: string) => string;
}
