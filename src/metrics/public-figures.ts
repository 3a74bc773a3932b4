/**
 * Figures of an isolate for everybody, where the operator has set no key. Exact figures, read every
 * second, would tell the size and the moment of each upload. So bytes are rounded up, requests are
 * rounded to tens (at least 1), and only the uptime changes more often than once a minute.
 */
import type { IsolateFigures } from './isolate.ts';

const STEP_BYTES = 16 * 1024 * 1024;
const STEP_REQUESTS = 10;
const MINUTE_MS = 60_000;

export class PublicFigures {
  #shown: { readonly minute: number; readonly figures: IsolateFigures } | null = null;
  #bytesEver = 0;

  /** @param now milliseconds since 1970. */
  of(own: IsolateFigures, now: number): IsolateFigures {
    const minute = Math.floor(now / MINUTE_MS);
    if (this.#shown?.minute !== minute) this.#shown = { minute, figures: this.#rounded(own) };
    return { ...this.#shown.figures, uptimeMs: own.uptimeMs };
  }

  #rounded(own: IsolateFigures): IsolateFigures {
    this.#bytesEver = Math.max(this.#bytesEver, roundedUp(own.bufferedBytesEver));
    return {
      ...own,
      bufferedBytes: roundedUp(own.bufferedBytes),
      bufferedBytesEver: this.#bytesEver,
      requestsInFlight: Math.max(1, STEP_REQUESTS * Math.round(own.requestsInFlight / STEP_REQUESTS)),
    };
  }
}

/** Gives at least one step, because 0 would tell that nobody has sent anything yet. */
function roundedUp(bytes: number): number {
  return STEP_BYTES * Math.max(1, Math.ceil(bytes / STEP_BYTES));
}
