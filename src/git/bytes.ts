/** Small helpers on byte arrays that the Git rooms share. */

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** The text of well-formed UTF-8, or null if the bytes are not UTF-8. */
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

/** The UTF-8 text of bytes that were decoded as Latin-1, or of some of them. */
export const fromLatin1 = (text: string): string => Buffer.from(text, 'latin1').toString();

/** The same text in memory of its own: a part of a long text keeps all of it in memory. */
export const ownText = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/** Of an escaped text: ASCII, and what the bytes from 0x80 on were turned into. */
const ESCAPED = /^[\0-\u007f\udc80-\udcff]*$/;
const ESCAPE_OFFSET = 0xdc00;

/**
 * As UTF-8, or with a lone surrogate for each byte from 0x80 on (PEP 383), which `encodeEscaped`
 * turns back.
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

/** Of each byte, its value as a hexadecimal digit in ASCII; -1: it is none. */
export const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()),
);
