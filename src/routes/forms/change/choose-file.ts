/**
 * Finds the file that a person wants to change, or what helps them to choose it: a folder, or files
 * whose paths contain what they have typed.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import { parsePath } from '../../../edit/path.ts';
import { decodeUtf8 } from '../../../git/bytes.ts';
import { kindOf } from '../../../git/objects/tree.ts';
import type { FolderPage, ListedEntry } from '../../../pages/forms/folder-page.ts';
import { findPath, type Folder, type FoundPath, listFiles } from '../../../upstream/tree-reader.ts';
import type { ChangeSource } from './source.ts';

const WRITE_A_PATH = 'Write the path of a file first, such as docs/guide.md.';
const IS_FOLDER = 'There is a folder of this name. Write the path of the file.';
const TOO_MANY_FILES =
  'This repository has too many files to look through them here. Write the whole path, or open its folders.';
const NO_MATCH = 'No file has this in its path. Write less of it, or add the file.';

/** A path that somebody has typed or chosen. */
export interface Choice {
  /** `open`: a link or a button was followed. The others are buttons beside what was typed. */
  readonly how: 'open' | 'find' | 'add';
  readonly path: string;
  /** The parts of the path, or null if there can be none of this name. */
  readonly parts: readonly string[] | null;
  /** Why there can be no such file; null also for a search, which looks for any text. */
  readonly problem: string | null;
}

type Listed = Pick<FolderPage, 'path' | 'folder' | 'entries' | 'problem'> & {
  readonly kind: 'list';
  readonly status: 200 | 400 | 404;
};

export type Chosen = { readonly kind: 'file'; readonly path: string; readonly blob: string } | Listed;

export function readChoice(typed: string, how: Choice['how']): Choice {
  const isSearch = how === 'find' && typed !== '';
  const path = isSearch ? typed.trim() : typed;
  const parsed = parsePath(path);
  if (parsed.kind === 'path') return { how, path, parts: parsed.parts, problem: null };
  return { how, path, parts: null, problem: isSearch ? null : parsed.problem };
}

/** Lists nothing, with the reason. */
export function listNothing(path: string, problem: string): Listed {
  return { kind: 'list', path, folder: '', entries: [], problem, status: 400 };
}

/** Finds the file. It rejects as reads of a source do. */
export async function chooseFile(
  { read, root }: Pick<ChangeSource, 'read' | 'root'>,
  { how, path, parts }: Choice,
): Promise<Chosen> {
  const found = parts && (await findPath(read, root, parts));
  if (found?.kind === 'file') return { kind: 'file', path, blob: found.blob };
  if (found?.kind === 'missing' && how === 'add') return { kind: 'file', path, blob: '' };
  const list = (entries: ListedEntry[], folder: string, problem: string | null, status: 200 | 404) =>
    ({ kind: 'list', path, folder, entries, problem, status }) as const;
  // The search is for files whose path contains the text, without regard to case.
  if (parts === null || found === null || (how === 'find' && path !== '')) {
    const all = await listFiles(read, root);
    const files = (all ?? []).filter((file) => file.toLowerCase().includes(path.toLowerCase()));
    const problem = all === null ? TOO_MANY_FILES : files.length === 0 ? NO_MATCH : null;
    const entries = files.map((file) => ({ kind: 'file', name: file, path: file }) as const);
    return list(entries, '', problem, problem === null ? 200 : 404);
  }
  if (found.kind === 'folder') {
    const unnamed = path === '' && how !== 'open' ? WRITE_A_PATH : null;
    const problem = unnamed ?? (how === 'add' ? IS_FOLDER : null);
    return list(entriesOf(found.folders.at(-1) ?? [], path), path, problem, 200);
  }
  // The nearest folder that exists helps to find the file.
  const folders = found.kind === 'missing' ? found.folders : [];
  const above = parts.slice(0, Math.max(0, folders.length - 1)).join('/');
  return list(entriesOf(folders.at(-1) ?? [], above), above, pathProblem(found, parts), 404);
}

function entriesOf(folder: Folder, path: string): ListedEntry[] {
  return folder.map((entry) => {
    const name = decodeUtf8(entry.name);
    const whole = name !== null && path !== '' ? `${path}/${name}` : name;
    return { kind: kindOf(entry), name: name ?? Buffer.from(entry.name).toString(), path: whole };
  });
}

type NoFile = Exclude<FoundPath, { kind: 'file' }>;

/** Problems with a path. Those that begin with a space follow the name of where the path ends. */
const NO_FILE: Readonly<Record<NoFile['kind'], string>> = {
  missing: 'There is no such file. Correct the path, or add the file.',
  folder: 'This is a folder. Write the path of a file in it.',
  'too-large': 'The folders on the way have too many files to be read here. Change the file with Git.',
  symlink: ' is a symbolic link. Change the file that it leads to, or use Git.',
  submodule: ' is a submodule: its files belong to another repository.',
  'file-as-folder': ' is a file, and has no files in it.',
};

export function pathProblem(found: NoFile, parts: readonly string[]): string {
  const place = 'place' in found ? `“${parts.slice(0, found.place).join('/')}”` : '';
  return place + NO_FILE[found.kind];
}
