/** The code host's answer to a look at a pull request; null to any other request. */
export function shownPull(url: unknown): Response | null {
  const number = /\/repos\/[^/]+\/[^/]+\/pulls\/(\d+)$/.exec(String(url))?.[1];
  if (number === undefined) return null;
  const dates = { merged_at: null, closed_at: null };
  const html_url = `https://host.test/octo/hello/pull/${number}`;
  return Response.json({ number: Number(number), html_url, user: null, head: { ref: 'x' }, ...dates });
}
