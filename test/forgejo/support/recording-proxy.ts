/** Stands in front of a real host: records what the service sends to it, and injects faults. */
import { once } from 'node:events';
import { type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Capture, type CapturedRequest } from '../../../sandbox/capture.ts';
import { Faults } from '../../../sandbox/faults.ts';
import { listen } from '../../../sandbox/http-server.ts';

export interface RecordingProxy {
  readonly url: string;
  readonly faults: Faults;
  /** In order. */
  readonly captured: readonly CapturedRequest[];
  close(): Promise<void>;
}

/** Changes to a push, and to what is said of it. */
export interface Rewriting {
  readonly request: (body: Buffer) => Buffer;
  readonly answer: (body: Buffer) => Buffer;
}

export async function startRecordingProxy(
  target: string,
  rewriting: Rewriting | null = null,
): Promise<RecordingProxy> {
  const { server, url } = await listen(0);
  const capture = new Capture('bodies');
  const faults = new Faults();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    capture.add(request);
    const { pathname } = new URL(request.url ?? '/', url);
    const of = pathname.endsWith('/git-receive-pack') ? rewriting : null;
    forward({ target, faults, rewriting: of }, pathname, request, response).catch(() => response.destroy());
  });
  return {
    url,
    faults,
    get captured() {
      return capture.list();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function forward(
  { target, faults, rewriting }: { target: string; faults: Faults; rewriting: Rewriting | null },
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!(await faults.apply(request, response, path))) return;
  const { method, headers } = request;
  if (rewriting !== null) {
    const { 'transfer-encoding': _chunked, 'content-length': _length, host: _host, ...kept } = headers;
    const body = rewriting.request(await buffer(request));
    const answer = await fetch(target + request.url, { method: 'POST', headers: kept as HeadersInit, body });
    const said = rewriting.answer(Buffer.from(await answer.arrayBuffer()));
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(said);
    return;
  }
  const onward = send(`${target}${request.url}`, { method, headers, agent: false });
  const answered = once(onward, 'response') as Promise<[IncomingMessage]>;
  const [, [answer]] = await Promise.all([pipeline(request, onward), answered]);
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  await pipeline(answer, response);
}
