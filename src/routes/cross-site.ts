/**
 * Posts that a page of someone else makes in the name of whoever has it open.
 *
 * There are no cookies to steal, but a report counts for the address that sends it. Every browser says with a POST where
 * it comes from, in Sec-Fetch-Site, in Origin, or in both, and no page can change either. What says neither is a program.
 */

/** Whether a browser sends `request` for a page of another site. */
export function isCrossSite(request: Request): boolean {
  const site = request.headers.get('Sec-Fetch-Site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = request.headers.get('Origin');
  if (origin === null) return false;
  // Hosts only: a proxy in front may have taken the encryption away. `Origin: null` has none.
  return !URL.canParse(origin) || new URL(origin).host !== new URL(request.url).host;
}
