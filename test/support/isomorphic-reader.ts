/**
 * Reads packs with isomorphic-git, on a file system in memory: an independent reader that runs in
 * workerd, too.
 *
 * It leaves out ref-deltas whose base stands behind them, and does not look at the checksum: that
 * is done here.
 */
import { createHash } from 'node:crypto';
import { indexPack, readObject } from 'isomorphic-git';

export interface ReadObject {
  readonly type: string;
  readonly content: Buffer;
}

export interface ReadPack {
  /** As the header says. */
  readonly count: number;
  readonly objects: ReadonlyMap<string, ReadObject>;
}

const GITDIR = '/repository';
const PACK_PATH = `${GITDIR}/objects/pack/pack-test.pack`;

export async function readPack(pack: Buffer): Promise<ReadPack> {
  const trailer = createHash('sha1').update(pack.subarray(0, -20)).digest();
  if (!trailer.equals(pack.subarray(-20))) throw new Error('the checksum of the pack is wrong');
  const { fs, oids } = await indexed(pack);
  const cache = {};
  const objects = new Map<string, ReadObject>();
  for (const oid of oids) {
    const read = await readObject({ fs, dir: '/', gitdir: GITDIR, oid, format: 'content', cache });
    if (read.format !== 'content') throw new Error(`${oid} was read as ${read.format}`);
    objects.set(oid, { type: read.type, content: Buffer.from(read.object) });
  }
  return { count: pack.readUInt32BE(8), objects };
}

/** Makes the index of a pack, which isomorphic-git needs before it can read an object. */
export async function indexed(pack: Uint8Array) {
  const fs = memoryFiles(new Map([[PACK_PATH, pack]]));
  const { oids } = await indexPack({ fs, dir: '/', gitdir: GITDIR, filepath: PACK_PATH.slice(1) });
  return { fs, oids };
}

async function missing(path: string): Promise<never> {
  throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}

async function nothing(): Promise<void> {}

function memoryFiles(files: Map<string, Uint8Array>) {
  return {
    promises: {
      readFile: async (path: string, options?: string | { encoding?: string }) => {
        const file = files.get(path) ?? (await missing(path));
        const encoding = typeof options === 'string' ? options : options?.encoding;
        return encoding === 'utf8' ? Buffer.from(file).toString() : file;
      },
      writeFile: async (path: string, content: Uint8Array) => void files.set(path, content),
      unlink: async (path: string) => void files.delete(path),
      readdir: async (path: string) =>
        [...files.keys()]
          .filter((name) => name.startsWith(`${path}/`))
          .map((name) => name.slice(path.length + 1)),
      mkdir: nothing,
      rmdir: nothing,
      symlink: nothing,
      stat: missing,
      lstat: missing,
      readlink: missing,
    },
  };
}
