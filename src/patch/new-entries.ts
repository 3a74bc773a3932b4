/**
 * Writes the objects that a patch makes, each once, and forgets them.
 * Proved by test/patch/series.test.ts.
 */
import { hashObject, type ObjectType, type Oid } from '../git/objects/oid.ts';
import { entryPieces } from '../git/pack/new-entry.ts';
import { tooMuch } from './patch-error.ts';

/** Takes pieces of an entry, which it copies. */
export type WriteEntry = (pieces: readonly Uint8Array[]) => Promise<void>;

export class NewEntries {
  readonly #write: WriteEntry;
  readonly #written = new Set<Oid>();
  #bytesLeft: number;

  /** @param mostBytes of all objects together. */
  constructor(write: WriteEntry, mostBytes: number) {
    this.#write = write;
    this.#bytesLeft = mostBytes;
  }

  get count(): number {
    return this.#written.size;
  }

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  /** It rejects as `write` does, or with PatchError. */
  async add(type: ObjectType, content: Uint8Array): Promise<Oid> {
    this.#bytesLeft -= content.byteLength;
    if (this.#bytesLeft < 0) throw tooMuch('The files that it changes, and their folders, are too large.');
    const oid = hashObject(type, content);
    if (this.#written.has(oid)) return oid;
    this.#written.add(oid);
    for (const piece of entryPieces(type, content)) await this.#write([piece]);
    return oid;
  }
}
