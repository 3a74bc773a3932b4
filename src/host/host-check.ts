/**
 * Whether a configured host can be used, as an operator is told at the start and by `/metrics`: a few reads, and writes
 * to a repository that does not exist. Nothing is changed, and nothing is retried.
 */
import type { Http } from '../outgoing/http-client.ts';
import { wholeResponse } from '../outgoing/whole-response.ts';
import { meaningOf } from './failure.ts';

export type HostProblem =
  /** No answer, or a fault of the host's own. */
  | 'unreachable'
  /** It is no such host, or its REST interface is switched off or elsewhere. */
  | 'wrong-kind'
  | 'too-old'
  /** It shows itself only to people who are signed in. */
  | 'closed'
  | 'no-git'
  | 'no-forking'
  | 'token-rejected'
  | 'scope-missing'
  /** The token is limited to public repositories, which breaks other things than it should. */
  | 'public-only';

export type HostCheck =
  /** @property software such as `Gitea 1.26.0`; null if the host does not say. */
  | { readonly kind: 'ready'; readonly software: string | null }
  /** @property sentence for the operator: names the host, what is wrong, and what to do. */
  | { readonly kind: HostProblem; readonly sentence: string };

export interface CheckedAnswer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
  /** Undefined: it is no JSON. */
  readonly json: unknown;
}

/** That of every call of a REST interface here, so that a check looks like them. */
const REST_TYPE = 'application/vnd.github.v3+json';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** One request; null if there is no answer, or a fault of the host's own. @param token null: in nobody's name. */
export async function ask(
  http: Http,
  url: string,
  token: string | null,
  method: 'GET' | 'POST' = 'GET',
): Promise<CheckedAnswer | null> {
  const headers: Record<string, string> = { 'User-Agent': 'gitveil', Accept: REST_TYPE };
  if (token !== null) headers['Authorization'] = `token ${token}`;
  if (method === 'POST') headers['Content-Type'] = 'application/json';
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const body = method === 'POST' ? '{}' : null;
    const response = await wholeResponse(await http.fetch(url, { method, headers, body, signal }), MAX_BYTES);
    const { status } = response;
    const header = (name: string): string | null => response.headers.get(name);
    const text = await response.text();
    const operation = method === 'GET' ? 'read' : 'write';
    const failure = meaningOf({ operation, status, header, text, codes: [] }, Date.now());
    // A host that only asks to be left alone has not said what it is.
    if (status >= 500 || failure?.lasts === 'until') return null;
    return { status, header, text, json: parsed(text) };
  } catch {
    return null;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A field of an answer that is an object. */
export function fieldOf({ json }: CheckedAnswer, name: string): unknown {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined;
}
