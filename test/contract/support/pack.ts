/** Objects and packs made by hand (gitformat-pack), for clients that are not Git. */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

export type Kind = 'commit' | 'tree' | 'blob';
const KINDS = { commit: 1, tree: 2, blob: 3 } as const;
const REF_DELTA = 7;
const LARGE = 1024 * 1024;

export interface PackObject {
  readonly kind: Kind;
  readonly content: Buffer;
  readonly id: string;
}

export function object(kind: Kind, content: string | Uint8Array): PackObject {
  const bytes = Buffer.from(content);
  const id = createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex');
  return { kind, content: bytes, id };
}

/** A tree with files only. */
export function tree(files: Readonly<Record<string, PackObject>>): PackObject {
  const entries = Object.entries(files).map(([name, { id }]) =>
    Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(id, 'hex')]),
  );
  return object('tree', Buffer.concat(entries));
}

export interface CommitParts {
  readonly tree: PackObject;
  readonly parents: readonly string[];
  readonly message: string;
  /** Name and address. */
  readonly by?: string;
}

export function commit({
  tree: files,
  parents,
  message,
  by = 'Ada Lovelace <ada@home.example>',
}: CommitParts) {
  const lines = [
    `tree ${files.id}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${by} 1234567890 +0730`,
    `committer ${by} 1234567890 +0730`,
  ];
  return object('commit', `${lines.join('\n')}\n\n${message}`);
}

/** An object stored as what it adds to another one, which need not come first. */
export interface RefDelta {
  readonly of: PackObject;
  readonly base: PackObject;
}

export function pack(entries: readonly (PackObject | RefDelta)[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const body = Buffer.concat([head, ...entries.map(entryBytes)]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function entryBytes(entry: PackObject | RefDelta): Buffer {
  if ('kind' in entry) {
    return Buffer.concat([sizeHead(KINDS[entry.kind], entry.content.length), deflated(entry.content)]);
  }
  const delta = deltaOf(entry.base.content, entry.of.content);
  return Buffer.concat([
    sizeHead(REF_DELTA, delta.length),
    Buffer.from(entry.base.id, 'hex'),
    deflateSync(delta),
  ]);
}

/** Deflates content. If it is large, it is random, and compressing it would only take time. */
function deflated(content: Buffer): Buffer {
  return deflateSync(content, { level: content.length > LARGE ? 0 : 6 });
}

/** Three bits of kind, and the size in groups of 4, 7, 7... bits. */
function sizeHead(kind: number, size: number): Buffer {
  const bytes = [(kind << 4) | (size & 15)];
  for (let rest = size >> 4; rest > 0; rest >>= 7) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

/** Copies the beginning that both have, and inserts the rest. */
function deltaOf(base: Buffer, target: Buffer): Buffer {
  let same = 0;
  while (same < Math.min(base.length, target.length, 0xffff) && base[same] === target[same]) same += 1;
  const inserted: Buffer[] = [];
  for (let at = same; at < target.length; at += 127) {
    const part = target.subarray(at, at + 127);
    inserted.push(Buffer.from([part.length]), part);
  }
  // Copy from offset 0, with two bytes of size.
  const copied = same === 0 ? Buffer.alloc(0) : Buffer.from([0x80 | 0x10 | 0x20, same & 255, same >> 8]);
  return Buffer.concat([varint(base.length), varint(target.length), copied, ...inserted]);
}

function varint(value: number): Buffer {
  const bytes = [value & 127];
  for (let rest = value >> 7; rest > 0; rest >>= 7) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}
