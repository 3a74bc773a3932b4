/**
 * Writes a pack of whole objects while it is read, so that it is in memory only once.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import { createHash } from 'node:crypto';
import type { ObjectType } from '../objects/oid.ts';
import type { ChunkSource } from '../wire/byte-reader.ts';
import { zlibStorePieces } from '../zlib/zlib-store.ts';
import { encodeEntryHeader, encodePackHeader, OBJECT_TYPES } from './entry-header.ts';

interface NewObject {
  readonly type: ObjectType;
  readonly content: Uint8Array;
}

export function packOf(objects: readonly NewObject[]): ChunkSource {
  const pieces = piecesOf(objects);
  return { read: async () => pieces.next().value ?? null, cancel: async () => {} };
}

function* piecesOf(objects: readonly NewObject[]): Generator<Uint8Array, null> {
  const hash = createHash('sha1');
  const hashed = (bytes: Uint8Array): Uint8Array => {
    hash.update(bytes);
    return bytes;
  };
  yield hashed(encodePackHeader(objects.length));
  for (const { type, content } of objects) {
    yield hashed(encodeEntryHeader(OBJECT_TYPES.indexOf(type), content.byteLength));
    for (const piece of zlibStorePieces(content)) yield hashed(piece);
  }
  yield hash.digest();
  return null;
}
