/**
 * An answer that may be late or never come, if it comes in time. Rejects with what `tooLate` makes if not (default: a
 * `TimeoutError`); the work itself is not stopped.
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

/** Whether it resolves. Never rejects. */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
