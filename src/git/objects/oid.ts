/**
 * Object ids as Git writes them: 40 lower-case hexadecimal digits of a SHA-1. Keep thousands of
 * them in an `OidTable`.
 */
import { createHash } from 'node:crypto';
import { HEX_VALUES } from '../bytes.ts';
import { sha1OfSmall, SMALL_BYTES } from './sha1.ts';

export type Oid = string;

export const OID_BYTES = 20;
export const OID_HEX_LENGTH = 2 * OID_BYTES;

/** Stands for "no object": the old id of a created ref, the new id of a deleted one. */
export const ZERO_OID: Oid = '0'.repeat(OID_HEX_LENGTH);

const OID_PATTERN = /^[0-9a-f]{40}$/;

export function isOid(text: string): boolean {
  return OID_PATTERN.test(text);
}

const DIGITS = Buffer.from('0123456789abcdef');
/**
 * Character codes of the id that is being made. This is twice as fast as Buffer's methods, which
 * are calls out of the engine.
 */
const codes = Array.from({ length: OID_HEX_LENGTH }, () => 0);

export function oidFromBytes(bytes: Uint8Array, offset: number): Oid {
  for (let i = 0; i < OID_BYTES; i++) {
    const byte = bytes[offset + i]!;
    codes[2 * i] = DIGITS[byte >>> 4]!;
    codes[2 * i + 1] = DIGITS[byte & 0xf]!;
  }
  return String.fromCharCode(...codes);
}

/**
 * Reads an id in lower-case hexadecimal digits between `start` and `end`.
 * @returns null if there is anything else.
 */
export function oidFromHex(bytes: Uint8Array, start: number, end: number): Oid | null {
  if (end - start !== OID_HEX_LENGTH) return null;
  for (let i = 0; i < OID_HEX_LENGTH; i++) {
    const code = bytes[start + i]!;
    // An upper-case digit has another code than the one of its value.
    if (code !== DIGITS[HEX_VALUES[code]!]) return null;
    codes[i] = code;
  }
  return String.fromCharCode(...codes);
}

/** Writes the 20 bytes of an id. */
export function writeOid(oid: Oid, bytes: Uint8Array, offset: number): void {
  for (let i = 0; i < OID_BYTES; i++)
    bytes[offset + i] = (HEX_VALUES[oid.charCodeAt(2 * i)]! << 4) | HEX_VALUES[oid.charCodeAt(2 * i + 1)]!;
}

export function oidBytes(oid: Oid): Uint8Array {
  const bytes = new Uint8Array(OID_BYTES);
  writeOid(oid, bytes, 0);
  return bytes;
}

/** Writes the 40 digits of an id in bytes. */
export function writeHex(bytes: Uint8Array, into: Uint8Array, offset: number): void {
  for (let i = 0; i < OID_BYTES; i++) {
    into[offset + 2 * i] = DIGITS[bytes[i]! >>> 4]!;
    into[offset + 2 * i + 1] = DIGITS[bytes[i]! & 0xf]!;
  }
}

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** Computes an object's id, the SHA-1 of `<type> <length>`, NUL and the content. */
export function hashObject(type: ObjectType, content: Uint8Array): Oid {
  return oidFromBytes(hashBytes(type, content), 0);
}

/**
 * Computes an object's id in bytes.
 * @returns a buffer that the next call may overwrite.
 */
export function hashBytes(type: ObjectType, content: Uint8Array): Uint8Array {
  const head = `${type} ${content.byteLength}\0`;
  if (content.byteLength <= SMALL_BYTES) return sha1OfSmall(head, content);
  return createHash('sha1').update(head).update(content).digest();
}
