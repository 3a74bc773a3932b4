/** For APIs whose responses are read as a whole: limits how much memory a response takes. */
import { malformed } from './outgoing-error.ts';

const READ_BYTES = 64 * 1024;

/**
 * The same response with its body in memory.
 * @param onLength told how long the body is so far, before that is kept; may reject.
 * @throws OutgoingError, the reason of the request's signal, or what `onLength` rejects with.
 */
export async function wholeResponse(
  response: Response,
  maxBytes: number,
  onLength: (bytes: number) => Promise<void> = async () => {},
): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const reader = body.getReader({ mode: 'byob' });
  const chunks: Uint8Array[] = [];
  // Most answers are short, and say so.
  const announced = Number(headers.get('Content-Length') ?? READ_BYTES);
  let buffer = new ArrayBuffer(Math.min(Math.max(announced, 1), READ_BYTES));
  for (let bytes = 0; ;) {
    const { value } = await reader.read(new Uint8Array(buffer));
    if (value === undefined || value.byteLength === 0) break;
    buffer = value.buffer;
    bytes += value.byteLength;
    try {
      if (bytes > maxBytes) throw malformed('it is too long');
      await onLength(bytes);
    } catch (error) {
      await reader.cancel();
      throw error;
    }
    chunks.push(value.slice());
  }
  const [only] = chunks;
  const whole = chunks.length === 1 && only !== undefined ? only : new Blob(chunks);
  return new Response(whole, { status, statusText, headers });
}
