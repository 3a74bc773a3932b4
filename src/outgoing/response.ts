/** What was read from a connection, as the platform's `Response`. */
import type { ChunkSource } from '../git/wire/byte-reader.ts';
import { gunzipped } from '../git/zlib/gunzip.ts';
import type { ExchangedResponse } from './exchange.ts';
import { malformed } from './outgoing-error.ts';

/** Of the connection, not of the response (RFC 9110, section 7.6.1). */
const CONNECTION_FIELDS = ['Connection', 'Keep-Alive', 'Transfer-Encoding', 'Upgrade', 'Trailer'];
const READ_BYTES = 64 * 1024;

/** @throws OutgoingError */
export function toResponse({ head, body }: ExchangedResponse): Response {
  const { status, statusText } = head;
  const headers = new Headers(head.headers);
  for (const name of CONNECTION_FIELDS) headers.delete(name);
  const coding = (headers.get('Content-Encoding') ?? 'identity').toLowerCase();
  if (coding === 'identity' || body === null) return new Response(body, { status, statusText, headers });
  const encoded = new Response(body).body;
  if (coding !== 'gzip' || encoded === null) {
    void encoded?.cancel();
    throw malformed('an encoding that was not asked for');
  }
  headers.delete('Content-Encoding');
  headers.delete('Content-Length');
  return new Response(inflated(encoded), { status, statusText, headers });
}

/** A pipe that is inflated no further than it is read. */
function inflated(encoded: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const source = gunzipped(chunksOf(encoded), () => malformed('its compressed body'));
  void pump(source, writable.getWriter());
  return readable;
}

async function pump(source: ChunkSource, writer: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  try {
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) {
      await writer.write(chunk);
    }
    await writer.close();
  } catch (error) {
    await source.cancel();
    await writer.abort(error).catch(() => {});
  }
}

function chunksOf(body: ReadableStream<Uint8Array>): ChunkSource {
  const reader = body.getReader({ mode: 'byob' });
  return {
    async read() {
      const { value } = await reader.readAtLeast(1, new Uint8Array(READ_BYTES));
      return value === undefined || value.byteLength === 0 ? null : value;
    },
    cancel: () => reader.cancel().catch(() => {}),
  };
}
