/**
 * Calls JSON endpoints of the Worker as a program does. An error has one field, and its code in a
 * header.
 */
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import type { Env } from '../../../src/env.ts';
import worker from '../../../src/worker.ts';

export const SECRET = 'a secret of more than thirty-two characters';

const bindings = {
  ...(env as unknown as Env),
  IDENTITY_SECRET: SECRET,
  HOSTING_TOKEN: 'token-of-the-bot',
  LOG_FORMAT: 'json',
};

export interface JsonAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** The code of an error; null: it is none. */
  readonly code: string | null;
  readonly headers: Headers;
}

export interface Call {
  /** Sent as it is when it is a string, bytes or a stream, else as JSON. */
  readonly payload: unknown;
  readonly headers?: Record<string, string>;
  readonly variables?: Partial<Env>;
  /** Scheme and host. */
  readonly origin?: string;
}

export async function post(path: string, call: Call): Promise<JsonAnswer> {
  const { payload, headers = {}, variables = {}, origin = 'https://veil.test' } = call;
  const isRaw =
    typeof payload === 'string' || payload instanceof Uint8Array || payload instanceof ReadableStream;
  const request = new Request(`${origin}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: isRaw ? (payload as BodyInit) : JSON.stringify(payload),
  });
  const response = await worker.fetch(request, { ...bindings, ...variables });
  const { status } = response;
  const body = await response.json<Record<string, unknown>>();
  const code = response.headers.get('X-Error-Code');
  if (status >= 400) expect([Object.keys(body), code]).toEqual([['error'], expect.any(String)]);
  return { status, body, code, headers: response.headers };
}
