/** Counts in the memory of a request what it reads of a repository's folders and files. It gives it back when it ends. */
import type { Memory } from '../git/memory.ts';
import type { ReadObjects } from './tree-reader.ts';

/** An entry of some 35 bytes becomes an object with a name, a mode and an id. */
const FOLDER_COPIES = 10;
/** A text: as it came, as a string, as lines, and in the page. */
const FILE_COPIES = 4;

/** Rejects as `read` does, and with HostError `busy` if there is no memory left. */
export function heldReads(read: ReadObjects, memory: Memory): ReadObjects {
  return async (request, maxBytes) => {
    const objects = await read(request, maxBytes);
    let bytes = 0;
    for (const { type, content } of objects?.values() ?? []) {
      bytes += content.byteLength * (type === 'tree' ? FOLDER_COPIES : FILE_COPIES);
    }
    await memory.share().set(bytes);
    return objects;
  };
}
