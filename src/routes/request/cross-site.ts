/**
 * Posts that another site's page makes in the name of the person who has it open.
 *
 * Only the operator has a cookie, but a report counts for the address that sends it. With a POST, every browser says
 * where it comes from, in Sec-Fetch-Site, in Origin, or in both, and no page can change either. A request with neither
 * comes from a program.
 */

/** Whether a browser sends `request` for a page of another site. */
export function isCrossSite(request: Request): boolean {
  const site = request.headers.get('Sec-Fetch-Site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = request.headers.get('Origin');
  if (origin === null) return false;
  // Compares only hosts, because a proxy in front may have terminated TLS. `Origin: null` has no host.
  return !URL.canParse(origin) || new URL(origin).host !== new URL(request.url).host;
}
