/**
 * JSON over HTTP, and whatever else a program may send: every header and every byte as it is given.
 */
import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly text: string;
  /** Fails unless it is JSON, and says so. */
  readonly json: unknown;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it goes out, also what an URL would not keep. Default: that of the URL. */
  readonly path?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Uint8Array;
  /**
   * Address of the client, as a proxy in front would tell it: for services with CLIENT_IP_HEADER.
   */
  readonly from?: string;
}

/** Header in which our services are told the address of a client. */
export const CLIENT_HEADER = 'X-Contract-Client';

/** Sends a request. With a body it is a POST, unless a method is given. */
export function send(
  url: string,
  { method, headers = {}, path, json, body, from }: Sent = {},
): Promise<Answer> {
  const content = json === undefined ? body : JSON.stringify(json);
  const allHeaders = {
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...(content !== undefined &&
      headers['Transfer-Encoding'] === undefined && {
        'Content-Length': String(Buffer.byteLength(content)),
      }),
    ...(from !== undefined && { [CLIENT_HEADER]: from }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const options = {
      // One that is kept may be closed by the service in the moment in which it is used again.
      agent: false as const,
      method: method ?? (content === undefined ? 'GET' : 'POST'),
      headers: allHeaders,
      ...(path !== undefined && { path }),
    };
    const request = httpRequest(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0, headers: received } = response;
        resolve(answerOf(statusCode, received as Record<string, string>, Buffer.concat(chunks)));
      });
    });
    request.on('error', reject);
    request.end(content);
  });
}

function answerOf(status: number, headers: Record<string, string>, body: Buffer): Answer {
  return {
    status,
    headers,
    body,
    get text() {
      return body.toString();
    },
    get json(): unknown {
      expect(headers['content-type'], body.toString()).toMatch(/^application\/json(;|$)/);
      return JSON.parse(body.toString());
    },
  };
}

/** The answer is this error and nothing else. What programs tell errors apart by is in a header. */
export function expectError(answer: Answer, status: number, message: string): void {
  expect({ status: answer.status, body: answer.json }).toEqual({ status, body: { error: message } });
  expect(answer.headers['x-error-code']).toMatch(/^[a-z]+(-[a-z]+)*$/);
}

/** `times` requests, a few at a time, in order. */
export async function inTurns<T>(
  times: number,
  act: (index: number) => Promise<T>,
  atOnce = 8,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < times) {
      const index = next++;
      results[index] = await act(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, work));
  return results;
}
