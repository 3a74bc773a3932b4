/**
 * Keeps objects of a pack; of a push, its commits and tags. There are tens of thousands, so a
 * `KeptObject` is made when it is asked for.
 */
import { ByteArrays, NumberList } from '../compact-lists.ts';
import { type Memory, type MemoryClaim, UNCOUNTED } from '../memory.ts';
import { hashBytes, type ObjectType, type Oid } from '../objects/oid.ts';
import type { CommitStore } from '../objects/new-commits.ts';
import { OidTable } from '../objects/oid-table.ts';
import type { Arrived } from '../wire/byte-reader.ts';
import { tooLarge } from '../wire/protocol-error.ts';
import { OBJ_COMMIT, OBJ_TAG, OBJECT_TYPES } from './entry-header.ts';
import { KEPT_OBJECT_BYTES, MAX_KEPT_BYTES, mostKeptBytes } from './memory-limits.ts';

export interface KeptObject {
  readonly type: ObjectType;
  readonly oid: Oid;
  readonly content: Uint8Array;
}

export interface KeepLimits {
  /** Maximum size of all objects, with their overhead. */
  readonly maxBytes?: number;
  /** Overhead of each object: what it takes here, and what its owner makes of it. */
  readonly objectBytes?: number;
  /**
   * The bytes that have arrived, which limit the size of all contents. Without it, there is no such
   * limit.
   */
  readonly arrived?: Arrived;
  readonly memory?: Memory;
}

export class KeptObjects implements CommitStore {
  readonly #maxBytes: number;
  readonly #objectBytes: number;
  readonly #arrived: Arrived | null;
  readonly #claim: MemoryClaim;
  readonly #oids = new OidTable();
  /** The content and the type of each object, by the number of its id. */
  readonly #contents = new ByteArrays();
  readonly #types = new NumberList('uint32');
  /** The offset of each entry, in the order of the pack, and the number of its object. */
  readonly #offsets = new NumberList('float64');
  readonly #objects = new NumberList('uint32');
  /** Size of all objects with their overhead. */
  bytes = 0;
  /** Size of all contents. An object counts as often as the pack contains it. */
  #contentBytes = 0;
  /** Bytes that are reserved for the next object. */
  #reserved = 0;

  /** Creates an empty collection, by default with the limits of a push. */
  constructor(limits: KeepLimits = {}) {
    this.#maxBytes = limits.maxBytes ?? MAX_KEPT_BYTES;
    this.#objectBytes = limits.objectBytes ?? KEPT_OBJECT_BYTES;
    this.#arrived = limits.arrived ?? null;
    this.#claim = (limits.memory ?? UNCOUNTED).claim();
  }

  /**
   * Counts bytes ahead, after a wait if necessary, because what follows cannot wait.
   * @throws what `memory` throws.
   */
  makeRoom(bytes: number, onWait?: () => void): Promise<void> {
    return this.#claim.set(this.bytes + this.#reserved + bytes, onWait);
  }

  endRoom(): void {
    this.#claim.setNow(this.bytes + this.#reserved);
  }

  /** Returns how many more bytes may be kept: the limit for the next allocation. */
  get roomBytes(): number {
    return Math.min(this.#maxBytes - this.bytes - this.#objectBytes, this.#paidBytes);
  }

  /** Returns how many more bytes the sender has paid for. */
  get #paidBytes(): number {
    return this.#arrived === null ? Infinity : mostKeptBytes(this.#arrived.bytes) - this.#contentBytes;
  }

  /** Number of kept entries. The same object twice counts twice. */
  get entryCount(): number {
    return this.#offsets.length;
  }

  /**
   * Counts the known size of the next object, before it is allocated.
   * @throws ProtocolError, and what `memory` throws.
   */
  reserve(bytes: number): void {
    if (bytes > this.#paidBytes) {
      throw tooLarge(
        'The commits of the push are far larger than what was sent of them. Push fewer commits at once.',
      );
    }
    if (bytes > this.roomBytes) {
      const limit = `${this.#maxBytes / 1024 / 1024} MiB`;
      throw tooLarge(`The push contains more than ${limit} of commits. Push fewer commits at once.`);
    }
    this.#count(bytes + this.#objectBytes);
  }

  /**
   * Adds an object.
   * @param content is copied.
   * @param offset is not smaller than any before.
   */
  add(type: ObjectType, content: Uint8Array, offset: number): KeptObject {
    const bytes = content.byteLength + this.#objectBytes;
    this.#count(bytes);
    this.#reserved = 0;
    this.bytes += bytes;
    this.#contentBytes += content.byteLength;
    const index = this.#oids.addBytes(hashBytes(type, content));
    if (index === this.#contents.length) {
      this.#contents.push(content);
      this.#types.push(OBJECT_TYPES.indexOf(type));
    }
    this.#offsets.push(offset);
    this.#objects.push(index);
    return this.#object(index);
  }

  atOffset(offset: number): KeptObject | undefined {
    const place = this.#offsets.firstAbove(offset) - 1;
    const isThere = place >= 0 && this.#offsets.at(place) === offset;
    return isThere ? this.#object(this.#objects.at(place)) : undefined;
  }

  /** Number of objects, each of which counts once. */
  get size(): number {
    return this.#oids.size;
  }

  /** Yields each object once. */
  *objects(): Generator<KeptObject> {
    for (let index = 0; index < this.size; index++) yield this.#object(index);
  }

  /** Yields the contents of annotated tags. */
  *tags(): Generator<Uint8Array> {
    for (let index = 0; index < this.size; index++)
      if (this.#types.at(index) === OBJ_TAG) yield this.#contents.at(index);
  }

  /** Lists the id of each object once, in ascending order, as JSON does. */
  sortedOids(): string {
    return this.#oids.sortedList();
  }

  placeOf(oid: Oid): number {
    const place = this.#oids.indexOf(oid);
    return place >= 0 && this.#types.at(place) === OBJ_COMMIT ? place : -1;
  }

  contentAt(place: number): Uint8Array {
    return this.#contents.at(place);
  }

  withOid(oid: Oid): KeptObject | undefined {
    const index = this.#oids.indexOf(oid);
    return index < 0 ? undefined : this.#object(index);
  }

  /**
   * Frees the memory of the contents, and keeps a claim of `leftBytes` for what was made of them.
   * Contents that were handed out become empty.
   */
  free(leftBytes = 0): void {
    this.#contents.free();
    this.#claim.setNow(Math.min(leftBytes, this.#claim.bytes));
  }

  /** Counts bytes for the next object. */
  #count(bytes: number): void {
    this.#reserved = Math.max(this.#reserved, bytes);
    const needed = this.bytes + this.#reserved;
    if (needed > this.#claim.bytes) this.#claim.setNow(needed);
  }

  #object(index: number): KeptObject {
    const type = OBJECT_TYPES[this.#types.at(index)] as ObjectType;
    return new Kept(type, this.#contents.at(index), this.#oids, index);
  }
}

/** An object whose id becomes a text when it is asked for. */
class Kept implements KeptObject {
  readonly type: ObjectType;
  readonly content: Uint8Array;
  readonly #oids: OidTable;
  readonly #index: number;

  constructor(type: ObjectType, content: Uint8Array, oids: OidTable, index: number) {
    this.type = type;
    this.content = content;
    this.#oids = oids;
    this.#index = index;
  }

  get oid(): Oid {
    return this.#oids.at(this.#index);
  }
}
