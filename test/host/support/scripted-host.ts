/** A host that answers requests by a script, and a clock that does not wait. */
import type { Clock } from '../../../src/isolate/clock.ts';
import type { Http } from '../../../src/outgoing/http-client.ts';

export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export type Script = (request: AskedRequest) => Response | Promise<Response>;

export const API = 'https://api.host.test';

export class ScriptedHost implements Http {
  readonly asked: AskedRequest[] = [];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  /** Requests that change something. */
  get writes(): AskedRequest[] {
    return this.asked.filter(({ method }) => method !== 'GET');
  }

  readonly fetch: Http['fetch'] = async (url, init) => {
    const { pathname, search } = new URL(url as string);
    const request = {
      method: init?.method ?? 'GET',
      path: pathname + search,
      headers: new Headers(init?.headers),
      body: typeof init?.body === 'string' ? init.body : '',
    };
    this.asked.push(request);
    return this.#script(request);
  };
}

/** Sleeping takes no time but on this clock. */
export class PatientClock implements Clock {
  at = Date.parse('2026-11-22T12:00:00Z');
  readonly slept: number[] = [];

  now(): number {
    return this.at;
  }

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    this.at += ms;
  }
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}
