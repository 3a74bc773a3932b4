/** Gives up waiting for a source whose answer somebody waits for. */

/** The answer, if it comes in time. Rejects with a `TimeoutError` if not; the work itself is not stopped. */
export async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const tooLate = scheduler.wait(ms, { signal: ended.signal }).then(() => {
    throw new DOMException('no answer in time', 'TimeoutError');
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    ended.abort();
  }
}
