/**
 * The objects of a pack that are kept: of a push commits and tags, because only they contain an identity; of a few
 * objects that were asked for, all.
 *
 * They are found again by their offset (ofs-deltas) and by their id (ref-deltas, parents). A delta's type is
 * its base's, so a delta of a kept object is kept too, and is resolved at once: chains need no recursion.
 */
import { ByteSlabs } from '../byte-slabs.ts';
import { hashObject, type ObjectType, type Oid } from '../oid.ts';
import { ProtocolError } from '../protocol-error.ts';
import { KEPT_OBJECT_BYTES } from './limits.ts';

export interface KeptObject {
  readonly type: ObjectType;
  readonly oid: Oid;
  readonly content: Uint8Array;
}

export class KeptObjects {
  readonly #maxBytes: number;
  readonly #byOffset = new Map<number, KeptObject>();
  readonly #byOid = new Map<Oid, KeptObject>();
  readonly #slabs = new ByteSlabs();
  #bytes = 0;
  #lastOffset = 0;

  /** @param maxBytes limit for all of them, contents and overhead together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What all of them take, with overhead. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many more bytes may be kept: the cap on what may be allocated next. */
  get roomBytes(): number {
    return this.#maxBytes - this.#bytes - KEPT_OBJECT_BYTES;
  }

  /** Entries that were kept. The same object twice counts twice. */
  get entryCount(): number {
    return this.#byOffset.size;
  }

  /** Room for the content of an object that may be added; @throws as `reserve`. */
  allocate(bytes: number): Uint8Array {
    this.reserve(bytes);
    return this.#slabs.take(bytes);
  }

  /** @throws ProtocolError `too-large` if `bytes` more would pass the limit. Call before allocating. */
  reserve(bytes: number): void {
    if (bytes > this.roomBytes) {
      throw new ProtocolError(
        'too-large',
        `The push contains more than ${this.#maxBytes / 1024 / 1024} MiB of commits. Push fewer commits at once.`,
      );
    }
  }

  add(type: KeptObject['type'], content: Uint8Array, offset: number): KeptObject {
    const kept = { type, oid: hashObject(type, content), content };
    this.#bytes += content.byteLength + KEPT_OBJECT_BYTES;
    this.#byOffset.set(offset, kept);
    this.#byOid.set(kept.oid, kept);
    this.#lastOffset = offset;
    return kept;
  }

  atOffset(offset: number): KeptObject | undefined {
    // Most ofs-deltas are trees and blobs after all commits, and need no look-up.
    return offset > this.#lastOffset ? undefined : this.#byOffset.get(offset);
  }

  /** Each object once. */
  objects(): Iterable<KeptObject> {
    return this.#byOid.values();
  }

  withOid(oid: Oid): KeptObject | undefined {
    return this.#byOid.get(oid);
  }
}
