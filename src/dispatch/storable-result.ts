import { storableText } from '../messaging/storable-text.ts';
import type { CallOutcome } from '../providers/provider.port.ts';

/** Characters kept. A provider's own id is longer than 500 nowhere that we know of. */
const KEPT = { code: 100, diagnostic: 500, effectId: 500 } as const;

/** Flags words that are not as they came: cut, or escaped since PostgreSQL cannot hold them. */
const CHANGED = '[changed] ';

/**
 * What a provider said, as the ledger and an event can hold it. A result that could not be stored would be tried for ever
 * while the mail is long out, so no text of a stranger reaches the database as it came.
 */
export function storableResult(result: CallOutcome): CallOutcome {
  const code = kept(result.code, KEPT.code);
  const diagnostic = kept(result.diagnostic, KEPT.diagnostic);
  const isFlagged = result.diagnostic !== diagnostic || result.code !== code;
  const said = {
    code,
    diagnostic: isFlagged ? `${CHANGED}${diagnostic.slice(0, KEPT.diagnostic - CHANGED.length)}` : diagnostic,
  };
  if (result.kind !== 'accepted') return { ...result, ...said };
  return { ...result, ...said, effectId: result.effectId === null ? null : kept(result.effectId, KEPT.effectId) };
}

function kept(text: string, length: number): string {
  if (text.length <= length && text.isWellFormed() && !text.includes('\u0000')) return text;
  // The cut may leave half of a pair at the end; it goes with the rest.
  const cut = text.length > length ? text.slice(0, length).replace(/[\ud800-\udbff]$/, '') : text;
  return storableText(cut).text.slice(0, length);
}
