/**
 * A Worker around the HTTP client and nothing else, for tests with real sockets. It makes the
 * requests that it is told, one after the other or at once, and tells what came of them; in a
 * Durable Object, if the path says so.
 */
import { DurableObject } from 'cloudflare:workers';
import { HttpClient } from '../../../src/outgoing/http-client.ts';

export interface OrderedRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or a stream of so many bytes, of which the last may be missing. */
  readonly body?:
    string | { readonly bytes: number; readonly announced?: boolean; readonly breaksOff?: boolean };
  /** `whole` by default; `count`: only how long it is; `given up`: after its first bytes. */
  readonly read?: 'whole' | 'count' | 'given up';
  readonly timeoutMs?: number;
}

export interface Order {
  readonly requests: readonly OrderedRequest[];
}

export interface Outcome {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly bytes?: number;
  /** Its name and code, or its message. */
  readonly error?: string;
}

const WRITE_BYTES = 256 * 1024;

async function carryOut(client: HttpClient, { requests }: Order): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const request of requests) outcomes.push(await outcomeOf(client, request));
  return outcomes;
}

async function outcomeOf(client: HttpClient, request: OrderedRequest): Promise<Outcome> {
  const { url, method = 'GET', headers = {}, timeoutMs = 20_000 } = request;
  const { body, announced } = bodyOf(request);
  try {
    const response = await client.fetch(url, {
      method,
      headers: { ...headers, ...announced },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const seen = { status: response.status, headers: Object.fromEntries(response.headers) };
    return { ...seen, ...(await readBody(response, request.read ?? 'whole')) };
  } catch (error) {
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}

function bodyOf({ body }: OrderedRequest): { body: BodyInit | null; announced: Record<string, string> } {
  if (body === undefined || typeof body === 'string') return { body: body ?? null, announced: {} };
  const { readable, writable } = new IdentityTransformStream();
  void feed(writable.getWriter(), body.bytes, body.breaksOff === true).catch(() => {});
  return {
    body: readable,
    announced: body.announced === true ? { 'Content-Length': String(body.bytes) } : {},
  };
}

async function feed(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  bytes: number,
  breaksOff: boolean,
): Promise<void> {
  const block = new Uint8Array(WRITE_BYTES).fill(0x61);
  for (let left = breaksOff ? bytes - 1 : bytes; left > 0; left -= WRITE_BYTES) {
    await writer.write(block.subarray(0, Math.min(left, WRITE_BYTES)));
  }
  await (breaksOff ? writer.abort(new Error('broken off')) : writer.close());
}

async function readBody(response: Response, read: NonNullable<OrderedRequest['read']>): Promise<Outcome> {
  if (read === 'whole' || response.body === null) return { text: await response.text() };
  const reader = response.body.getReader({ mode: 'byob' });
  let buffer = new ArrayBuffer(WRITE_BYTES);
  for (let bytes = 0; ;) {
    const { value } = await reader.readAtLeast(1, new Uint8Array(buffer));
    if (value === undefined || value.byteLength === 0) return { bytes };
    bytes += value.byteLength;
    if (read === 'given up') {
      await reader.cancel();
      return { bytes };
    }
    buffer = value.buffer;
  }
}

export class Requester extends DurableObject {
  readonly #client = new HttpClient([]);

  carryOut(order: Order): Promise<Outcome[]> {
    return carryOut(this.#client, order);
  }
}

interface TestEnv {
  readonly REQUESTER: DurableObjectNamespace<Requester>;
  /** Comma-separated. */
  readonly FETCH_HOSTS: string;
}

export default {
  async fetch(request, env) {
    const order = await request.json<Order>();
    const { pathname } = new URL(request.url);
    const hosts = env.FETCH_HOSTS.split(',');
    if (pathname === '/') return Response.json(await carryOut(new HttpClient(hosts), order));
    const object = env.REQUESTER.get(env.REQUESTER.idFromName(pathname));
    return Response.json(await object.carryOut(order));
  },
} satisfies ExportedHandler<TestEnv>;
