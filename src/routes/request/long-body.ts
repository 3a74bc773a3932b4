/**
 * Bodies that do not fit into the runtime's buffers. A client that stops reading is given up after
 * WRITE_TIMEOUT, and then holds no memory or connection.
 */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { utf8 } from '../../git/bytes.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';

/** The size of a write. The runtime keeps a shorter body whole while its client does not read. */
const PIECE_BYTES = 64 * 1024;

export function longBody<T extends string | Uint8Array>(c: Context<AppEnv>, body: T): T | ReadableStream {
  const bytes: Uint8Array = typeof body === 'string' ? utf8(body) : body;
  // Nobody reads the body of an answer to HEAD.
  if (bytes.byteLength <= PIECE_BYTES || c.req.raw.method === 'HEAD') return body;
  const { readable, writable } = new FixedLengthStream(bytes.byteLength);
  waitUntil(send(bytes, new TimedWriter(writable, c.var.config.writeTimeoutMs)));
  return readable;
}

/** Relays the body of another server, which is cancelled when the client is given up. */
export function relayedBody(c: Context<AppEnv>, body: ReadableStream<Uint8Array>): ReadableStream {
  const { readable, writable } = new IdentityTransformStream();
  waitUntil(relay(body, new TimedWriter(writable, c.var.config.writeTimeoutMs)));
  return readable;
}

async function send(bytes: Uint8Array, writer: TimedWriter): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; offset += PIECE_BYTES) {
    if (!(await writer.write(bytes.subarray(offset, offset + PIECE_BYTES)))) return;
  }
  await writer.close();
}

async function relay(body: ReadableStream<Uint8Array>, writer: TimedWriter): Promise<void> {
  const reader = body.getReader({ mode: 'byob' });
  try {
    for (let buffer = new ArrayBuffer(PIECE_BYTES); ;) {
      const { value } = await reader.readAtLeast(1, new Uint8Array(buffer));
      if (value === undefined || value.byteLength === 0) break;
      if (!(await writer.write(value))) return await reader.cancel();
      ({ buffer } = value);
    }
    await writer.close();
  } catch {
    // The sender broke off, and the client must see that something is missing.
    await writer.abort();
  }
}
