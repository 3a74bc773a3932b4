/**
 * The cron trigger of wrangler.toml on this machine: every minute, and at once when the program gets SIGUSR2.
 *
 * A first run at the start tells an operator what is wrong with a code host. The embedded one needs none: there the first
 * run comes after a minute.
 */
import { say } from './environment.ts';

const MINUTE_MS = 60_000;

/** Returns a function that ends it. */
export function everyMinute(run: () => Promise<void>, { startsNow }: { startsNow: boolean }): () => void {
  let isEnded = false;
  const runNow = (): void => {
    if (isEnded) return;
    run().catch((error: unknown) => {
      // A run that is interrupted by the end of the service is not reported.
      if (!isEnded) say(`the scheduled run failed: ${String(error)}`);
    });
  };
  if (startsNow) runNow();
  const timer = setInterval(runNow, MINUTE_MS);
  process.on('SIGUSR2', runNow);
  return () => {
    isEnded = true;
    clearInterval(timer);
    // The listener stays. Without it, the signal would end the program before it has saved its state.
  };
}
