/**
 * The cron trigger of wrangler.toml on this machine: every minute, and at once when the program gets SIGUSR2.
 *
 * The first run comes after a minute and not at the start, so that a start asks the code host nothing.
 */
const MINUTE_MS = 60_000;

/** Answers how to end it. */
export function everyMinute(run: () => Promise<void>): () => void {
  let isEnded = false;
  const runNow = (): void => {
    if (isEnded) return;
    run().catch((error: unknown) => {
      // A run that the end of the service breaks off is no news.
      if (!isEnded) process.stderr.write(`gitveil: the scheduled run failed: ${String(error)}\n`);
    });
  };
  const timer = setInterval(runNow, MINUTE_MS);
  process.on('SIGUSR2', runNow);
  return () => {
    isEnded = true;
    clearInterval(timer);
    // The listener stays: without one, the signal would end the program before it has saved its state.
  };
}
