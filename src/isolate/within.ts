/**
 * Waits for an answer. If it does not come in time, this rejects with `tooLate` (by default a
 * `TimeoutError`), and the work goes on.
 * Proved by test/durable/asleep.test.ts and test/isolate/last-known.test.ts.
 */
export async function within<T>(
  ms: number,
  answer: Promise<T>,
  tooLate = (): Error => new DOMException('no answer in time', 'TimeoutError'),
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooLate()), ms);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs `work` with a signal that fires after `ms` with a `TimeoutError`. The timer ends with the
 * work. That of `AbortSignal.timeout` would run on, and keep a Durable Object awake, and billed,
 * until it fires.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const late = (): void => deadline.abort(new DOMException('no answer in time', 'TimeoutError'));
  const timer = setTimeout(late, ms);
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Tells if a promise resolves. Never rejects. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
