/** Which redirects are followed: those to the same server, for the same request. */
const REPEATING: ReadonlySet<number> = new Set([307, 308]);
const FOLLOWED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Where to repeat the request; null: the response is the answer itself.
 *
 * A write follows only redirects that repeat it (307, 308). `fetch` would turn the others into a GET, and its success
 * would look like the success of the write. No request follows to another server, because its credentials and contents
 * are meant for this one.
 */
export function redirectTarget(request: { method: string; url: URL }, response: Response): URL | null {
  const { status } = response;
  const location = response.headers.get('Location');
  if (location === null || !FOLLOWED.has(status)) return null;
  if (!isRead(request.method) && !REPEATING.has(status)) return null;
  const target = URL.parse(location, request.url.href);
  return target?.origin === request.url.origin ? target : null;
}

/** A request that changes nothing, however often it is made. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}
