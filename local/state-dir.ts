/**
 * Makes the folders of the state, and tries whether files can be made in them.
 *
 * Only STATE_DIR itself is made, not the folders above it: a misspelt path must not become a tree of folders. Whether a
 * folder is writable is tried out, as permissions say nothing about root, or about file systems that refuse writes.
 */
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * What is wrong with STATE_DIR, as a sentence that names it; null when it can be used.
 *
 * @param stateDir as the variable has it; relative to the working directory
 * @param subfolders what will be kept in it
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
    return `${folder} cannot be written (${code}); set it to a folder that this user can write to`;
  }
}

const isFolder = (path: string): boolean => statSync(path).isDirectory();
