/** What was read from a connection, as the platform's `Response`. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { ExchangedResponse } from './exchange.ts';
import { isOutgoingError, malformed } from './outgoing-error.ts';

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
  return new Response(gunzipped(encoded), { status, statusText, headers });
}

/**
 * Uses Node's decoder, which waits for its reader. The platform's DecompressionStream inflates all input at once, and a
 * small body could fill the memory.
 */
function gunzipped(encoded: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const decoding = pipeline(Readable.from(chunksOf(encoded)), createGunzip(), async (decoded) => {
    for await (const chunk of decoded) await writer.write(chunk as Uint8Array);
  });
  decoding
    .then(
      () => writer.close(),
      (error: unknown) => writer.abort(isOutgoingError(error) ? error : malformed('its compressed body')),
    )
    .catch(() => {});
  return readable;
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: 'byob' });
  try {
    for (;;) {
      const { value } = await reader.readAtLeast(1, new Uint8Array(READ_BYTES));
      if (value === undefined || value.byteLength === 0) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
