/** What a lease must still leave after a call for its result to be stored. */
export const RECORD_MARGIN_MS = 2_000;

/** After an intent that could not be committed; with the call still taken, else all that was claimed ahead would fail at once. */
export const INTENT_PAUSE_MS = 1_000;

/** Under load an intent waits so long for company; a call takes much longer where the provider is not next door. */
export const INTENT_GATHER_MS = 4;
