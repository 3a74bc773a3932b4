/** /metrics as the operator sees it: live, and with the service key. */

const KEY = 'a-key-of-the-operator';

/** For the environment of the service. */
export const LIVE_METRICS = { SERVICE_API_KEY: KEY };

/** @param accept the format. */
export async function readMetrics(service: { readonly url: string }, accept = 'text/plain'): Promise<string> {
  const headers = { Accept: accept, 'X-Service-Key': KEY };
  return (await fetch(`${service.url}/metrics`, { headers })).text();
}
