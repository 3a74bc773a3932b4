/** The code host's answer to a look at a pull request; null to any other request. */
export function shownPull(url: unknown): Response | null {
  const number = /\/repos\/[^/]+\/[^/]+\/pulls\/(\d+)$/.exec(String(url))?.[1];
  if (number === undefined) return null;
  const dates = { merged_at: null, closed_at: null };
  return Response.json({ number: Number(number), html_url: 'x', user: null, head: { ref: 'x' }, ...dates });
}
