/** Asks a code host, once, and reads its answer. */
import { type HostAnswer, limitOf } from '../../src/host/failure.ts';

export interface Answer extends HostAnswer {
  /** `undefined` if the answer is no JSON. */
  readonly json: unknown;
  readonly aheadMs: number | null;
}

/** Reason why there is no answer. */
export interface NoAnswer {
  readonly why: string;
}

const TIMEOUT_MS = 10_000;
/** Average error of a Date header, which has whole seconds. */
const HALF_A_SECOND_MS = 500;

/**
 * Asks the host, once.
 * @param token `null` for a request without credentials.
 * @param scheme how the token is sent: Git takes a password only.
 */
export async function ask(
  url: string,
  token: string | null,
  method: 'GET' | 'POST' = 'GET',
  scheme: 'token' | 'Basic' | 'Bearer' = 'token',
): Promise<Answer | NoAnswer> {
  const headers: Record<string, string> = { 'User-Agent': 'gitveil', Accept: 'application/json' };
  const credentials = scheme === 'Basic' ? Buffer.from(`x-access-token:${token}`).toString('base64') : token;
  if (token !== null) headers['Authorization'] = `${scheme} ${credentials}`;
  if (method === 'POST') headers['Content-Type'] = 'application/json';
  try {
    const askedAt = Date.now();
    const sent = method === 'POST' ? { method, body: '{}' } : {};
    const response = await fetch(url, { ...sent, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const middle = (askedAt + Date.now()) / 2;
    // The service believes only the server that it asks (src/host/redirect.ts).
    const { origin } = new URL(response.url);
    if (origin !== new URL(url).origin) return { why: `it redirects to ${origin}` };
    const text = await response.text();
    const { status } = response;
    const header = (name: string): string | null => response.headers.get(name);
    const operation = method === 'GET' ? 'read' : 'write';
    // A host that only asks for fewer requests has not said what it is.
    const isBusy = limitOf({ operation, status, header, text, codes: [] }, Date.now()) !== null;
    if (isBusy || status >= 500) return { why: `${status} ${response.statusText}`.trim() };
    const date = Date.parse(response.headers.get('date') ?? '');
    return {
      status,
      header,
      text,
      json: parsed(text),
      aheadMs: Number.isNaN(date) ? null : middle - date - HALF_A_SECOND_MS,
    };
  } catch (error) {
    return { why: reasonOf(error) };
  }
}

/** Finds the system's error code, because `fetch` says only "fetch failed". */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return 'timeout';
  return cause?.code ?? cause?.message ?? message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a field of an answer that is an object. */
export function fieldOf({ json }: Answer, name: string): unknown {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined;
}

export function wordOf(answer: Answer, name: string): string {
  const value = fieldOf(answer, name);
  return typeof value === 'string' ? value : '';
}
