/**
 * The one server for all addresses of the host. Captures each request, and applies faults to it.
 * Then its path decides whether Git, the REST interface, the notification topics or the pages
 * answer it.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Capture } from './capture.ts';
import type { Faults } from './faults.ts';
import type { GitHttp } from './git-http.ts';
import type { Ntfy } from './ntfy.ts';
import type { Answer } from './rest/api-call.ts';

/** Limit of a REST body. Real ones are small: a comment has at most 65,536 characters. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;
/**
 * Time for which an idle connection stays open. It is longer than a client keeps one, so that the
 * server never closes a connection while a client sends a request.
 */
const KEEP_ALIVE_MS = 120_000;

/** A request whose body has been read. */
export interface WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type Handler = (request: WholeRequest) => Answer | Promise<Answer>;

export interface Rooms {
  readonly git: GitHttp;
  readonly rest: Handler;
  readonly ntfy: Ntfy;
  readonly pages: Handler;
  readonly faults: Faults;
  readonly capture: Capture;
  readonly now: () => Date;
}

/** Starts to listen. The handlers are built once the address is known. */
export async function listen(port: number): Promise<{ server: Server; url: string }> {
  const server = createServer();
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Sends each request to its handler. */
export function serve(server: Server, baseUrl: string, rooms: Rooms): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response, baseUrl, rooms).catch((error: unknown) => {
      if (request.errored || response.destroyed) return;
      console.error(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'application/json' }).end('{"message":"Server Error"}');
    });
  });
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  baseUrl: string,
  rooms: Rooms,
): Promise<void> {
  rooms.capture.add(request);
  response.setHeader('x-github-request-id', randomBytes(16).toString('hex').toUpperCase());
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('date', rooms.now().toUTCString());
  const url = new URL(`${baseUrl}${request.url ?? '/'}`);
  if (!(await rooms.faults.apply(request, response, url.pathname))) return;
  if (rooms.git.matches(url.pathname)) {
    await rooms.git.handle(request, response, url);
    return;
  }
  const body = await readBody(request);
  if (!body) {
    response.writeHead(413).end();
    return;
  }
  const whole = { method: request.method ?? 'GET', url: url.href, headers: request.headers, body };
  const answer = await roomOf(whole.method, url.pathname, rooms)(whole);
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(![204, 304].includes(answer.status) && { 'content-length': Buffer.byteLength(answer.body) }),
  });
  response.end(request.method === 'HEAD' ? '' : answer.body);
}

function roomOf(method: string, path: string, rooms: Rooms): Handler {
  if (path.startsWith('/api/v3/')) return rooms.rest;
  if (rooms.ntfy.matches(method, path)) return (request) => rooms.ntfy.handle(request);
  return rooms.pages;
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // A body that is too long is read and discarded, so that the client reads the answer.
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null;
}
