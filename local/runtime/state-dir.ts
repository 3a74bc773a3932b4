/**
 * Creates the folders of the state, and checks whether files can be created in them.
 *
 * Creates only STATE_DIR itself, not the folders above it: a misspelt path must not become a tree
 * of folders. Writes a file to find out whether a folder is writable, because permissions say
 * nothing about root, or about read-only file systems.
 */
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * Says what is wrong with STATE_DIR, in a sentence that names it; `null` if it can be used.
 *
 * @param stateDir the variable's value, relative to the working directory
 * @param subfolders folders that the service needs in it
 */
export function stateDirProblem(stateDir: string, subfolders: readonly string[]): string | null {
  const root = resolve(stateDir);
  for (const folder of [root, ...subfolders.map((name) => join(root, name))]) {
    const problem = folderProblem(folder);
    if (problem !== null) return `STATE_DIR is ${JSON.stringify(stateDir)}: ${problem}`;
  }
  return null;
}

function folderProblem(folder: string): string | null {
  try {
    // Not recursive: for a folder below /proc, Node.js would never return from that.
    if (!existsSync(folder)) mkdirSync(folder);
    if (!isFolder(folder)) return `${folder} is not a folder; set it to the path of one`;
    rmdirSync(mkdtempSync(join(folder, '.writable-')));
    return null;
  } catch (error) {
    const parent = dirname(folder);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR') return `${parent} is not a folder; set it to a path below one`;
    if (code === 'ENOENT' && !existsSync(parent)) return `the folder ${parent} does not exist; create it`;
    if (code === 'ENOSPC') return `the disk of ${folder} is full; free some room`;
    return `${folder} cannot be written (${code}); set it to a folder that this user can write to`;
  }
}

const isFolder = (path: string): boolean => statSync(path).isDirectory();
