/** Reads the files of a service as whoever has the disk would. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inflateSync } from 'node:zlib';

/** Where a zlib stream may begin (RFC 1950): deflate, window of 32 KiB. */
const ZLIB_HEADS = new Set([0x7801, 0x785e, 0x789c, 0x78da]);

/** All files below a folder, by their paths from there. */
export function pathsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/**
 * The same with their bytes. Journals come and go, and an object that has nothing to keep any more
 * removes its files: what is gone by the time that it is read is left out.
 */
export function filesIn(folder: string): { readonly path: string; readonly bytes: Buffer }[] {
  return pathsIn(folder).flatMap((path) => {
    try {
      return [{ path, bytes: readFileSync(join(folder, path)) }];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}

/** The paths of the files that hold a text. */
export function filesWith(folder: string, text: string): string[] {
  return filesIn(folder).flatMap(({ path, bytes }) => (bytes.includes(text) ? [path] : []));
}

/** The same files, as they are and inflated. */
export function inflatedFilesIn(folder: string): { readonly path: string; readonly bytes: Buffer }[] {
  return filesIn(folder).flatMap(({ path, bytes }) =>
    [bytes, ...inflated(bytes)].map((each) => ({ path, bytes: each })),
  );
}

function inflated(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 2 < bytes.length; at++) {
    if (!ZLIB_HEADS.has(bytes.readUInt16BE(at))) continue;
    try {
      found.push(inflateSync(bytes.subarray(at)));
    } catch {
      // It was none.
    }
  }
  return found;
}

/** Does something with each database of a class of objects, one after the other. */
export function inDatabases<T>(folder: string, work: (database: DatabaseSync) => T): T[] {
  const names = readdirSync(folder).filter((name) => /^[0-9a-f]+\.sqlite$/.test(name));
  return names.map((name) => {
    const database = new DatabaseSync(join(folder, name));
    try {
      return work(database);
    } finally {
      database.close();
    }
  });
}
