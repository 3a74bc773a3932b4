/**
 * Object ids (oids) as Git writes them: 40 lower-case hex digits of a SHA-1.
 *
 * They are kept as strings, because they are map keys almost everywhere; the few places that read them from
 * binary data (tree-less packs, ref-deltas) convert with `oidFromBytes`.
 */
import { createHash } from 'node:crypto';
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

/** The id stored in the 20 bytes at `offset`. */
export function oidFromBytes(bytes: Uint8Array, offset: number): Oid {
  return Buffer.from(bytes.buffer, bytes.byteOffset + offset, OID_BYTES).toString('hex');
}

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** The id of an object: SHA-1 over `<type> <length>` NUL and the content. */
export function hashObject(type: ObjectType, content: Uint8Array): Oid {
  const head = `${type} ${content.byteLength}\0`;
  if (content.byteLength <= SMALL_BYTES) return sha1OfSmall(head, content);
  return createHash('sha1').update(head).update(content).digest('hex');
}
