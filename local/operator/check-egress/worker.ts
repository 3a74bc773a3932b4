/**
 * Sends a request to one address, as the service does to the code host, and returns the answer. The
 * address is fixed when the Worker is deployed, so nobody can use the Worker for requests to other
 * servers.
 */
import { HttpClient } from '../../../src/outgoing/http-client.ts';
import { wholeResponse } from '../../../src/outgoing/response.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

export interface EgressReport {
  /** The answer of the echo address, or the error. */
  readonly echo: { readonly status: number; readonly text: string } | { readonly error: string };
  /** The address of the person who asked for this report. The echo must not contain it. */
  readonly clientAddress: string | null;
}

export default {
  async fetch(request, { ECHO_URL }) {
    const clientAddress = request.headers.get('CF-Connecting-IP');
    return Response.json({ echo: await ask(ECHO_URL), clientAddress } satisfies EgressReport);
  },
} satisfies ExportedHandler<{ readonly ECHO_URL: string }>;

async function ask(url: string): Promise<EgressReport['echo']> {
  try {
    const response = await new HttpClient([]).fetch(url, {
      headers: { 'User-Agent': 'gitveil' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const whole = await wholeResponse(response, MAX_BYTES);
    return { status: whole.status, text: await whole.text() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
