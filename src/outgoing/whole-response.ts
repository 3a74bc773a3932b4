/** For APIs whose responses are read as a whole: limits how much memory a response takes. */
import { malformed } from './outgoing-error.ts';

const READ_BYTES = 64 * 1024;

/** The same response with its body in memory. @throws OutgoingError, or the reason of the request's signal. */
export async function wholeResponse(response: Response, maxBytes: number): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const reader = body.getReader({ mode: 'byob' });
  const chunks: Uint8Array[] = [];
  let buffer = new ArrayBuffer(READ_BYTES);
  for (let bytes = 0; ;) {
    const { value } = await reader.read(new Uint8Array(buffer));
    if (value === undefined || value.byteLength === 0) break;
    buffer = value.buffer;
    chunks.push(value.slice());
    bytes += value.byteLength;
    if (bytes <= maxBytes) continue;
    await reader.cancel();
    throw malformed('it is too long');
  }
  return new Response(new Blob(chunks), { status, statusText, headers });
}
