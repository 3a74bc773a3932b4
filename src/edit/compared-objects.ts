/**
 * Objects of a push and of the upstream commits that it is compared with. The host is asked only
 * for objects that upstream is known to have, so it learns no id of the push.
 * Proved by test/edit/changes.test.ts and test/push/judge/rules/changes.test.ts.
 */
import type { MemoryClaim } from '../git/memory.ts';
import type { Oid } from '../git/objects/oid.ts';
import { canonical, parseTree, type TreeEntry } from '../git/objects/tree.ts';
import type { IndexedObject, PackIndex } from '../git/pack/pack-index.ts';
import type { FileObject, PackedObjects } from '../git/pack/packed-objects.ts';
import type { ReadObjects } from '../upstream/tree-reader.ts';

/** Maximum number of objects in one request to the host. */
const MAX_WANTS = 500;
/** Maximum number of requests for single objects, if they are too large together. */
const MAX_SINGLE_WANTS = 20;
/** Maximum size of all answers of the host. */
const MAX_READ_BYTES = 3 * 1024 * 1024;
/** Maximum number of requests to the host. Folders below folders take one for each level. */
const MAX_REQUESTS = 60;

interface PushedObjects {
  readonly objects: PackedObjects;
  readonly index: PackIndex;
  /** Objects that are known to be in the pack. It grows as the index does. */
  readonly held: ReadonlyMap<Oid, IndexedObject>;
}

export class ComparedObjects {
  readonly #pushed: PushedObjects;
  readonly #read: ReadObjects;
  readonly #claim: MemoryClaim;
  /**
   * The path at which upstream has an object. The host is asked for no other objects. A folder's
   * path ends with a slash, but the root's is empty.
   */
  readonly #upstreams = new Map<Oid, string>();
  /** Contents that the host has sent. */
  readonly #sent = new Map<Oid, Uint8Array>();
  #sentBytes = 0;
  #requestsLeft = MAX_REQUESTS;
  /** Objects that the host need not be asked for again. */
  readonly #asked = new Set<Oid>();
  /** Folders of the push that were read. */
  readonly #seenFolders = new Set<Oid>();

  constructor(pushed: PushedObjects, read: ReadObjects, claim: MemoryClaim) {
    this.#pushed = pushed;
    this.#read = read;
    this.#claim = claim;
  }

  /** Notes where upstream has an object. */
  noteUpstream(oid: Oid, path: string): void {
    this.#upstreams.set(oid, path);
  }

  /**
   * Asks upstream for objects, and for those of the same kind on which the pack's deltas are based.
   */
  async ask(kind: 'file' | 'folder', oids: readonly Oid[], maxBytes: number): Promise<void> {
    const isOfKind = (oid: Oid): boolean =>
      /(?:^|\/)$/.test(this.#upstreams.get(oid) ?? 'none') === (kind === 'folder');
    const bases = this.#pushed.index.missingBases;
    const wants = [...new Set([...oids, ...bases.keys()])]
      .filter((oid) => this.#upstreams.has(oid) && !this.#asked.has(oid) && isOfKind(oid))
      // A large file is not shown anyway.
      .filter((oid) => (bases.get(oid) ?? 0) <= maxBytes / 2)
      .slice(0, MAX_WANTS);
    for (const oid of wants) this.#asked.add(oid);
    if (wants.length === 0) return;
    if (await this.#take(wants, maxBytes)) return;
    // Together they are too large, but most of them are not.
    for (const oid of wants.slice(0, MAX_SINGLE_WANTS)) await this.#take([oid], maxBytes / 2);
  }

  /**
   * Requests objects, unless the host has sent too much or was asked too often already.
   * @returns false if they are too large.
   */
  async #take(wants: readonly Oid[], maxBytes: number): Promise<boolean> {
    const most = Math.min(maxBytes, MAX_READ_BYTES - this.#sentBytes);
    if (most <= 0 || this.#requestsLeft === 0) return true;
    this.#requestsLeft -= 1;
    const found = await this.#read({ wants }, most);
    if (found === null) return false;
    const objects = [...found.values()];
    this.#sentBytes += objects.reduce((sum, { content }) => sum + content.byteLength, 0);
    await this.#claim.set(this.#sentBytes);
    for (const { oid, content } of objects) this.#sent.set(oid, content);
    this.#pushed.index.add(objects);
    await this.#pushed.index.resolve();
    return true;
  }

  /** Returns the path at which upstream has an object. */
  pathUpstream(oid: Oid): string | undefined {
    return this.#upstreams.get(oid);
  }

  /** Returns a file's content if the host has sent it. */
  sentContent(oid: Oid): Uint8Array | undefined {
    return this.#sent.get(oid);
  }

  /** Tells if an object is known to be in the pack. */
  isPushed(oid: Oid): boolean {
    return this.#pushed.held.has(oid);
  }

  /** Lists the pushed objects that are not known to be upstream's, nor folders that were read. */
  unlisted(): IndexedObject[] {
    const isUnlisted = ({ oid }: IndexedObject) => !this.#upstreams.has(oid) && !this.#seenFolders.has(oid);
    return [...this.#pushed.held.values()].filter(isUnlisted);
  }

  /** Returns the size of an object in the pack in bytes, or null if it is not known to be there. */
  pushedSize(oid: Oid): number | null {
    return this.#pushed.held.get(oid)?.size ?? null;
  }

  /**
   * Returns the content of a file.
   * @param maxBytes limits a file of the pack. One of upstream is returned whatever its size.
   * @returns null if it is not available, or larger.
   */
  async content(oid: Oid, maxBytes: number): Promise<Uint8Array | null> {
    const size = this.pushedSize(oid);
    if (size === null) return this.#sent.get(oid) ?? null;
    return size > maxBytes ? null : ((await this.#readHeld(oid))?.content ?? null);
  }

  /**
   * Reads an object of the pack.
   * @returns null if it is not known to be there, or too large.
   */
  async #readHeld(oid: Oid): Promise<FileObject | null> {
    const held = this.#pushed.held.get(oid);
    const object = held === undefined ? null : await this.#pushed.objects.at(held.offset);
    return typeof object === 'object' ? object : null;
  }

  /**
   * Reads a folder of the push or of upstream.
   * @returns null if it is not available, or too large.
   */
  async folder(oid: Oid): Promise<readonly TreeEntry[] | null> {
    const object = await this.#readHeld(oid);
    if (object?.type !== 'tree') return this.sentFolder(oid);
    this.#seenFolders.add(oid);
    return parseTree(object.content).map(canonical);
  }

  sentFolder(oid: Oid): readonly TreeEntry[] | null {
    const content = this.#sent.get(oid);
    return content === undefined ? null : parseTree(content).map(canonical);
  }

  /** Returns at least how many objects of the pack could not be read. */
  get unreadCount(): number {
    const { isComplete, unresolved } = this.#pushed.index;
    return isComplete ? 0 : Math.max(1, unresolved.length);
  }
}
