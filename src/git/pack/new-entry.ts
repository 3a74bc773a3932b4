/**
 * Writes an entry of a pack that is a whole object, in pieces that are views of it.
 * Proved by test/e2e/push/patch-oracle.test.ts and test/e2e/push/patch.test.ts.
 */
import type { ObjectType } from '../objects/oid.ts';
import { zlibStorePieces } from '../zlib/zlib-store.ts';
import { encodeEntryHeader, OBJECT_TYPES } from './entry-header.ts';

export function* entryPieces(type: ObjectType, content: Uint8Array): Generator<Uint8Array, void> {
  yield encodeEntryHeader(OBJECT_TYPES.indexOf(type), content.byteLength);
  yield* zlibStorePieces(content);
}
