/** An answer, if it comes in time. If not, rejects with `tooLate` (default: a `TimeoutError`); the work goes on. */
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
