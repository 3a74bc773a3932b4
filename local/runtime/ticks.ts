/**
 * The cron trigger of wrangler.toml on this machine: regularly, and at once when the program gets
 * SIGUSR2.
 *
 * A first run at the start tells an operator what is wrong with a code host. The embedded one needs
 * none.
 */
import { say } from '../environment.ts';

/** As in wrangler.toml: real hosts are not to be asked more often. */
export const USUAL_TICK_MS = 60_000;

/** Returns a function that ends it. */
export function everyTick(
  tickMs: number,
  run: () => Promise<void>,
  { startsNow }: { startsNow: boolean },
): () => void {
  let isEnded = false;
  const runNow = (): void => {
    if (isEnded) return;
    run().catch((error: unknown) => {
      // A run that is interrupted by the end of the service is not reported.
      if (!isEnded) say(`the scheduled run failed: ${String(error)}`);
    });
  };
  if (startsNow) runNow();
  const timer = setInterval(runNow, tickMs);
  process.on('SIGUSR2', runNow);
  return () => {
    isEnded = true;
    clearInterval(timer);
    // The listener stays. Without it, the signal would end the program before it has saved its
    // state.
  };
}
