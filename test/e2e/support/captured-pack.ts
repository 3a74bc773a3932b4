/**
 * Unpacks what was pushed to the host, as it came over the wire: complete, refused or cut off in
 * the middle.
 *
 * Written for these tests from gitformat-pack, with zlib of its own, and forgiving where the
 * service must be strict: whatever can be read of a broken pack is read.
 */
import { createHash } from 'node:crypto';
import { constants, inflateSync } from 'node:zlib';
import type { GitObject } from './objects.ts';

const TYPES: Readonly<Record<number, string>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFS_DELTA = 6;
const REF_DELTA = 7;
const OID_BYTES = 20;

export interface ReceivedPush {
  /** The pkt-lines in front of the pack. */
  readonly commands: readonly string[];
  /** As the pack's header says. */
  readonly announcedObjects: number;
  /** Objects that could be resolved. */
  readonly objects: readonly GitObject[];
  /** Everything inflated that is not an object by itself: deltas, and what was cut off. */
  readonly fragments: readonly Buffer[];
  /** Whether the pack has its checksum behind it. */
  readonly isComplete: boolean;
}

interface Entry {
  readonly offset: number;
  readonly kind: number;
  readonly baseOffset: number;
  readonly baseOid: string;
  readonly content: Buffer;
}

/** @param readBase finds objects outside the pack, for thin packs. */
export async function unpackPush(
  body: Buffer,
  readBase: (oids: readonly string[]) => Promise<readonly GitObject[]>,
): Promise<ReceivedPush> {
  const { commands, end } = readCommands(body);
  const pack = body.subarray(end);
  if (pack.toString('latin1', 0, 4) !== 'PACK' || pack.length < 12) {
    return { commands, announcedObjects: 0, objects: [], fragments: [pack], isComplete: pack.length === 0 };
  }
  const announcedObjects = pack.readUInt32BE(8);
  const { entries, fragments, position } = readEntries(pack, announcedObjects);
  const trailer = pack.subarray(position, position + OID_BYTES);
  const isComplete =
    entries.length === announcedObjects &&
    createHash('sha1').update(pack.subarray(0, position)).digest().equals(trailer);
  const objects = await resolve(entries, readBase);
  return { commands, announcedObjects, objects, fragments, isComplete };
}

function readCommands(body: Buffer): { commands: string[]; end: number } {
  const commands: string[] = [];
  let position = 0;
  while (position + 4 <= body.length && body.toString('latin1', position, position + 4) !== 'PACK') {
    const length = Number.parseInt(body.toString('latin1', position, position + 4), 16);
    if (Number.isNaN(length)) break;
    if (length > 4) commands.push(body.toString('latin1', position + 4, position + length));
    position += Math.max(4, length);
  }
  return { commands, end: Math.min(position, body.length) };
}

function readEntries(
  pack: Buffer,
  count: number,
): { entries: Entry[]; fragments: Buffer[]; position: number } {
  const entries: Entry[] = [];
  const fragments: Buffer[] = [];
  let position = 12;
  while (entries.length < count && position < pack.length) {
    const offset = position;
    let byte = pack[position++] as number;
    const kind = (byte >> 4) & 7;
    while ((byte & 0x80) !== 0 && position < pack.length) byte = pack[position++] as number;
    let baseOffset = -1;
    let baseOid = '';
    if (kind === OFS_DELTA) {
      let distance = 0;
      do {
        byte = pack[position++] ?? 0;
        distance = distance * 128 + (byte & 0x7f) + ((byte & 0x80) !== 0 ? 1 : 0);
      } while ((byte & 0x80) !== 0);
      // Each byte but the last counts one more in the places above it (gitformat-pack, "offset
      // encoding").
      baseOffset = offset - distance;
    } else if (kind === REF_DELTA) {
      baseOid = pack.toString('hex', position, position + OID_BYTES);
      position += OID_BYTES;
    }
    const { content, consumed, complete } = inflate(pack.subarray(position));
    if (!complete) {
      fragments.push(content, pack.subarray(position));
      return { entries, fragments, position: pack.length };
    }
    position += consumed;
    if (kind === OFS_DELTA || kind === REF_DELTA) fragments.push(content);
    entries.push({ offset, kind, baseOffset, baseOid, content });
  }
  return { entries, fragments, position };
}

interface Inflated {
  readonly content: Buffer;
  readonly consumed: number;
  readonly complete: boolean;
}

function inflate(bytes: Buffer): Inflated {
  try {
    const { buffer, engine } = inflateSync(bytes, { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return { content: buffer, consumed: engine.bytesWritten, complete: true };
  } catch {
    try {
      const content = inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
      return { content, consumed: bytes.length, complete: false };
    } catch {
      return { content: Buffer.alloc(0), consumed: bytes.length, complete: false };
    }
  }
}

async function resolve(
  entries: readonly Entry[],
  readBase: (oids: readonly string[]) => Promise<readonly GitObject[]>,
): Promise<GitObject[]> {
  const byOffset = new Map<number, GitObject>();
  const byOid = new Map<string, GitObject>();
  const wanted = entries.flatMap(({ kind, baseOid }) => (kind === REF_DELTA ? [baseOid] : []));
  for (const base of await readBase([...new Set(wanted)])) byOid.set(base.oid, base);
  const resolved: GitObject[] = [];
  // A ref-delta's base may come later in the pack: pass over it until nothing more is found.
  let waiting = entries;
  for (let before = -1; waiting.length !== before;) {
    before = waiting.length;
    waiting = waiting.filter((entry) => {
      const base = entry.kind === OFS_DELTA ? byOffset.get(entry.baseOffset) : byOid.get(entry.baseOid);
      const plainType = TYPES[entry.kind];
      const type = plainType ?? base?.type;
      if (type === undefined) return true;
      const content = plainType === undefined ? applyDelta(base!.content, entry.content) : entry.content;
      const object = { oid: oidOf(type, content), type, content };
      byOffset.set(entry.offset, object);
      byOid.set(object.oid, object);
      resolved.push(object);
      return false;
    });
  }
  return resolved;
}

export function oidOf(type: string, content: Uint8Array): string {
  return createHash('sha1').update(`${type} ${content.byteLength}\0`).update(content).digest('hex');
}

function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let position = 0;
  const skipSize = (): void => {
    while (((delta[position++] ?? 0) & 0x80) !== 0);
  };
  skipSize();
  skipSize();
  const pieces: Buffer[] = [];
  while (position < delta.length) {
    const code = delta[position++] as number;
    if ((code & 0x80) === 0) {
      pieces.push(delta.subarray(position, position + code));
      position += code;
      continue;
    }
    let offset = 0;
    let size = 0;
    for (let i = 0; i < 4; i++)
      if ((code & (1 << i)) !== 0) offset += (delta[position++] ?? 0) * 2 ** (8 * i);
    for (let i = 0; i < 3; i++) if ((code & (16 << i)) !== 0) size += (delta[position++] ?? 0) * 2 ** (8 * i);
    if (size === 0) size = 65_536;
    pieces.push(base.subarray(offset, offset + size));
  }
  return Buffer.concat(pieces);
}
