/** The service's clock, so that a test can stop time or skip ahead. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends early, and without an error, when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => scheduler.wait(ms, signal && { signal }).catch(() => {}),
};
