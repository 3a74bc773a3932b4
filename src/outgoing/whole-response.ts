/** For APIs whose responses are read as a whole: limits how much memory a response takes. */
import { malformed } from './outgoing-error.ts';

/** With its body in memory. @param onLength told the length so far, before that is kept. @throws what that throws. */
export async function wholeResponse(
  response: Response,
  maxBytes: number,
  onLength: (bytes: number) => Promise<void> = async () => {},
): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw malformed('it is too long');
    await onLength(bytes);
    // Without the rest of the buffer that it came in.
    chunks.push(chunk.slice());
  }
  return new Response(new Blob(chunks), { status, statusText, headers });
}
