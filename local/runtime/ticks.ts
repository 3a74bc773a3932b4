/**
 * Runs the scheduled handler in the place of wrangler.toml's cron trigger: at an interval, and at
 * once when the program gets SIGUSR2.
 *
 * A first run at the start tells an operator what is wrong with a code host. The embedded one needs
 * no such run.
 */
import { say } from '../environment.ts';

/** Interval of the trigger in wrangler.toml: real hosts are not to be asked more often. */
export const USUAL_TICK_MS = 60_000;

/** Starts the runs. Returns a function that ends them. */
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
