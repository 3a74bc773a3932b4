/** Converts between bytes and text, for the rooms of Git. */

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** No bytes. Many may share it, because `freeBytes` leaves it as it is. */
export const NO_BYTES = new Uint8Array(0);

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** Decodes UTF-8, or returns null if the bytes are not well-formed. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

export function latin1(bytes: Uint8Array, start = 0, end = bytes.byteLength): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

/** Length from which a call out of the engine is faster than a loop. */
const LONG = 512;

/** Encodes a text of characters up to 0xff. */
export function latin1Bytes(text: string): Uint8Array {
  if (text.length > LONG) return Buffer.from(text, 'latin1');
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Decodes as UTF-8 bytes that were decoded as Latin-1 before. */
export const fromLatin1 = (text: string): string => Buffer.from(text, 'latin1').toString();

/** Copies a text. A part of a long text would keep all of it in memory. */
export const ownText = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/** Matches texts that `decodeEscaped` can have made of bytes that are not UTF-8. */
const ESCAPED = /^[\0-\u007f\udc80-\udcff]*$/;
const ESCAPE_OFFSET = 0xdc00;

/**
 * Decodes UTF-8. If the bytes are not well-formed, each byte from 0x80 on becomes a lone surrogate
 * instead (PEP 383). `encodeEscaped` restores the bytes of either.
 */
export function decodeEscaped(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== null) return text;
  const units = Uint16Array.from(bytes, (byte) => (byte < 0x80 ? byte : ESCAPE_OFFSET + byte));
  return Buffer.from(units.buffer).toString('utf16le');
}

export function encodeEscaped(text: string): Uint8Array {
  if (!ESCAPED.test(text)) return utf8(text);
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.byteLength;
  }
  return joined;
}

/**
 * Maps the ASCII code of a hexadecimal digit, in upper or lower case, to its value, and every other
 * byte to -1.
 */
export const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()),
);

/**
 * Frees the memory of bytes that have all of their buffer, because the garbage collector is slow.
 * They are empty from now on.
 */
export function freeBytes(bytes: Uint8Array): void {
  const buffer = bytes.buffer as ArrayBuffer;
  if (buffer.byteLength > 0) buffer.transfer(0);
}
