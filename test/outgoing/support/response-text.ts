/**
 * Responses as a server writes them, and what the client reads from them, whatever pieces they come
 * in.
 */
import { type BodyDecoder, type ResponseHead, ResponseHeadReader } from '../../../src/outgoing/response.ts';

export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** A head from its lines. */
export const headText = (...lines: string[]): string => `${[...lines, ''].join('\r\n')}\r\n`;

/** The head and how many bytes it takes; null: it has no end. */
export function readHead(pieces: readonly Uint8Array[]): { head: ResponseHead; bytes: number } | null {
  const reader = new ResponseHeadReader();
  let bytes = 0;
  for (const piece of pieces) {
    const used = reader.take(piece);
    if (used !== null) return { head: reader.parse(), bytes: bytes + used };
    bytes += piece.byteLength;
  }
  return null;
}

export const headOf = (...lines: string[]): ResponseHead => {
  const read = readHead([bytesOf(headText(...lines))]);
  if (read === null) throw new Error('the head has no end');
  return read.head;
};

/** Decodes pieces, each in place. */
export function decodeAll(
  decoder: BodyDecoder,
  pieces: readonly Uint8Array[],
): { body: string; usedBytes: number; isEnd: boolean } {
  const found = { body: '', usedBytes: 0, isEnd: decoder.decode(new Uint8Array(0)).isEnd };
  for (const piece of pieces) {
    if (found.isEnd) break;
    const chunk = piece.slice();
    const { bodyBytes, usedBytes, isEnd } = decoder.decode(chunk);
    found.body += textOf(chunk.subarray(0, bodyBytes));
    found.usedBytes += usedBytes;
    found.isEnd = isEnd;
  }
  return found;
}
