/**
 * Object ids as Git writes them: 40 lower-case hex digits of a SHA-1. Thousands of them belong into
 * an `OidTable`.
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
 * The characters of the id that is made next: twice as fast as the methods of Buffer, whose calls
 * leave the engine.
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
 * The id that stands in hexadecimal digits between `start` and `end`; null if something else does.
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

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** The id of an object: SHA-1 over `<type> <length>` NUL and the content. */
export function hashObject(type: ObjectType, content: Uint8Array): Oid {
  const head = `${type} ${content.byteLength}\0`;
  if (content.byteLength <= SMALL_BYTES) return oidFromBytes(sha1OfSmall(head, content), 0);
  return createHash('sha1').update(head).update(content).digest('hex');
}
