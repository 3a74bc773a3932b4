/**
 * Tree objects: `<mode> <name>`, NUL and the 20 bytes of an id, sorted by name (Git's tree-walk.c).
 * Names and ids are kept byte for byte. `withEntry` writes modes in today's form, because some
 * hosts refuse old forms (git-fsck, `zeroPaddedFilemode`).
 * Proved by test/edit/build-change.test.ts.
 */
import { concatBytes, latin1, utf8 } from '../bytes.ts';
import { OID_BYTES, type Oid, oidFromBytes } from './oid.ts';
import { ProtocolError } from '../wire/protocol-error.ts';

export interface TreeEntry {
  /** Octal digits: `40000`, `100644`, `100755`, `120000`, `160000`, and old forms of these. */
  readonly mode: string;
  readonly name: Uint8Array;
  readonly oid: Oid;
}

export const FOLDER_MODE = '40000';
export const FILE_MODE = '100644';

const SPACE = 0x20;
const KIND_MASK = 0o170000;
export type EntryKind = 'folder' | 'file' | 'symlink' | 'submodule';
const KINDS: ReadonlyMap<number, EntryKind> = new Map([
  [0o040000, 'folder'],
  [0o120000, 'symlink'],
  [0o160000, 'submodule'],
]);
const MODE_PATTERN = /^[0-7]{1,7}$/;

export function kindOf({ mode }: Pick<TreeEntry, 'mode'>): EntryKind {
  return KINDS.get(Number.parseInt(mode, 8) & KIND_MASK) ?? 'file';
}

/** @throws ProtocolError `bad-pack` if the content is no tree. */
export function parseTree(content: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let position = 0; position < content.byteLength;) {
    const space = content.indexOf(SPACE, position);
    const nul = content.indexOf(0, space);
    const end = nul + 1 + OID_BYTES;
    const isWhole = space >= 0 && nul >= 0 && end <= content.byteLength;
    const mode = isWhole ? latin1(content, position, space) : '';
    if (!MODE_PATTERN.test(mode)) {
      throw new ProtocolError('bad-pack', 'The code host sent a malformed folder.');
    }
    entries.push({ mode, name: content.subarray(space + 1, nul), oid: oidFromBytes(content, nul + 1) });
    position = end;
  }
  return entries;
}

export function encodeTree(entries: readonly TreeEntry[]): Uint8Array {
  return concatBytes(
    entries.flatMap(({ mode, name, oid }) => [
      utf8(`${mode} `),
      name,
      Uint8Array.of(0),
      Buffer.from(oid, 'hex'),
    ]),
  );
}

/** Finds an entry by the bytes of its name. */
export function entryNamed(entries: readonly TreeEntry[], name: Uint8Array): TreeEntry | undefined {
  return entries.find((entry) => Buffer.compare(entry.name, name) === 0);
}

/** Writes the mode as Git does today, without leading zeros. */
export function canonical({ mode, name, oid }: TreeEntry): TreeEntry {
  return { mode: mode.replace(/^0+/, ''), name, oid };
}

/** Returns a new tree without the entry of this name. */
export function withoutEntry(entries: readonly TreeEntry[], without: Uint8Array): TreeEntry[] {
  return entries.filter(({ name }) => Buffer.compare(name, without) !== 0).map(canonical);
}

/**
 * Returns a new tree in which `entry` replaces the one of its name, or stands where Git's order
 * puts it.
 */
export function withEntry(entries: readonly TreeEntry[], entry: TreeEntry): TreeEntry[] {
  const others = withoutEntry(entries, entry.name);
  const key = sortKey(entry);
  const place = others.findIndex((other) => Buffer.compare(sortKey(other), key) > 0);
  return others.toSpliced(place < 0 ? others.length : place, 0, canonical(entry));
}

/**
 * Returns the bytes by which Git sorts an entry: a folder counts as if its name ended with a slash.
 */
export function sortKey(entry: TreeEntry): Uint8Array {
  return kindOf(entry) === 'folder' ? concatBytes([entry.name, utf8('/')]) : entry.name;
}
