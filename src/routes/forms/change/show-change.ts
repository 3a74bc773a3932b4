/** GET …/change: the folders of a repository, and the text of a file to edit. */
import type { Context } from 'hono';
import { fileText, MAX_FILE_BYTES, TOO_LARGE } from '../../../edit/lines.ts';
import { parsePath } from '../../../edit/path.ts';
import {
  findPath,
  type Folder,
  type FoundPath,
  listFiles,
  readBlob,
  type ReadObjects,
} from '../../../upstream/tree-reader.ts';
import type { AppEnv } from '../../../env.ts';
import { decodeUtf8 } from '../../../git/bytes.ts';
import { kindOf } from '../../../git/objects/tree.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import { type ChangeFields, changeFormPage } from '../../../pages/forms/change-pages.ts';
import { folderPage, type ListedEntry } from '../../../pages/forms/folder-page.ts';
import { parsePolicy, POLICY_PATH } from '../../../policy/policy.ts';
import { PR_HASH_PATTERN } from '../../../pr-hash.ts';
import { answerRefused, explained } from '../../request/refused.ts';
import { answerForm, placeOf } from '../form-answer.ts';
import { CHANGE_FORM } from '../paths.ts';
import { answerReading, changeForm } from './change-page.ts';
import { openSource, type Source } from './source.ts';

export async function showChange(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const path = c.req.query('path') ?? '';
  const prHash = (c.req.query('pr_hash') ?? '').trim().toLowerCase();
  const isHash = prHash === '' || PR_HASH_PATTERN.test(prHash);
  if (!isHash) {
    const explanation = 'A hash has 8 to 40 hexadecimal characters.';
    return answerRefused(c, explained(400, 'No such pull request', explanation), 'page');
  }
  if (c.req.query('find') === '1' && path !== '') return findFiles(c, target, { path, prHash });
  const parsed = parsePath(path);
  if (parsed.kind === 'invalid') return folderAnswer(c, target, { path, prHash, problem: parsed.problem });
  return answerReading(c, CHANGE_FORM, async (host) => {
    const source = await openSource(c, host, target, prHash === '' ? null : prHash);
    if (source.kind === 'refused') return answerRefused(c, source, 'page');
    const found = await findPath(source.read, source.root, parsed.parts);
    const wantsNew = c.req.query('new') === '1';
    if (found.kind === 'file') return showFile(c, target, source, { path, prHash, ...found });
    if (found.kind === 'missing' && wantsNew)
      return showNewFile(c, target, source, { path, prHash, ...found });
    if (found.kind === 'folder') {
      const nameless = path === '' && c.req.query('find') === '1' ? WRITE_A_PATH : null;
      const problem = wantsNew ? (path === '' ? WRITE_A_PATH : IS_FOLDER) : nameless;
      return folderAnswer(c, target, { path, prHash, problem, folder: found.folders.at(-1) ?? [] });
    }
    const problem = problemOf(found, parsed.parts);
    // The nearest folder that exists helps to find the file.
    const folder = found.kind === 'missing' ? found.folders.at(-1) : undefined;
    const above = found.kind === 'missing' ? parsed.parts.slice(0, found.folders.length - 1).join('/') : '';
    return folderAnswer(c, target, { path, prHash, problem, folder: folder ?? [], above, status: 404 });
  });
}

const WRITE_A_PATH = 'Write the path of a file first, such as docs/guide.md.';
const IS_FOLDER = 'There is a folder of this name. Write the path of the file.';

/** The file of this path; else those with the text in their path, in whatever case. */
function findFiles(
  c: Context<AppEnv>,
  target: RepositoryName,
  { path, prHash }: { readonly path: string; readonly prHash: string },
): Promise<Response> {
  return answerReading(c, CHANGE_FORM, async (host) => {
    const source = await openSource(c, host, target, prHash === '' ? null : prHash);
    if (source.kind === 'refused') return answerRefused(c, source, 'page');
    const parsed = parsePath(path.trim());
    const named = parsed.kind === 'path' ? await findPath(source.read, source.root, parsed.parts) : null;
    if (named?.kind === 'file') return showFile(c, target, source, { path: path.trim(), prHash, ...named });
    const all = await listFiles(source.read, source.root);
    const wanted = path.trim().toLowerCase();
    const found = (all ?? []).filter((file) => file.toLowerCase().includes(wanted));
    const entries = found.map((file) => ({ kind: 'file' as const, name: file, path: file }));
    const problem =
      all === null
        ? 'This repository has too many files to look through them here. Write the whole path, or open its folders.'
        : found.length === 0
          ? 'No file has this in its path. Write less of it, or add the file.'
          : null;
    const page = { ...placeOf(c, target, CHANGE_FORM), path, folder: '', entries, problem, prHash };
    return answerForm(c, folderPage(page), problem === null ? 200 : 404);
  });
}

interface FolderAnswer {
  readonly path: string;
  readonly prHash: string;
  readonly problem: string | null;
  readonly folder?: Folder;
  /** The path of the shown folder, if it is not `path`. */
  readonly above?: string;
  readonly status?: 200 | 404;
}

function folderAnswer(
  c: Context<AppEnv>,
  target: RepositoryName,
  { path, prHash, problem, folder = [], above = path, status = 200 }: FolderAnswer,
): Response | Promise<Response> {
  const isListed = folder.length > 0;
  const page = {
    ...placeOf(c, target, CHANGE_FORM),
    path,
    folder: isListed ? above : '',
    entries: folder.map((entry) => listed(entry, above)),
    problem,
    prHash,
  };
  return answerForm(c, folderPage(page), problem !== null && !isListed ? 400 : status);
}

function listed(entry: Folder[number], folder: string): ListedEntry {
  const name = decodeUtf8(entry.name);
  const kind = kindOf(entry);
  if (name === null) return { kind, name: Buffer.from(entry.name).toString(), path: null };
  return { kind, name, path: folder === '' ? name : `${folder}/${name}` };
}

export function problemOf(found: Exclude<FoundPath, { kind: 'file' }>, parts: readonly string[]): string {
  switch (found.kind) {
    case 'missing':
      return 'There is no such file. Correct the path, or add the file.';
    case 'folder':
      return 'This is a folder. Write the path of a file in it.';
    case 'too-large':
      return 'The folders on the way have too many files to be read here. Change the file with Git.';
    case 'symlink':
      return `${shown(parts, found.place)} is a symbolic link. Change the file that it leads to, or use Git.`;
    case 'submodule':
      return `${shown(parts, found.place)} is a submodule: its files belong to another repository.`;
    case 'file-as-folder':
      return `${shown(parts, found.place)} is a file, and has no files in it.`;
  }
}

function shown(parts: readonly string[], place: number): string {
  return `“${parts.slice(0, place).join('/')}”`;
}

interface NamedFile {
  readonly path: string;
  readonly prHash: string;
  /** On the way to it, the root first. */
  readonly folders: readonly Folder[];
}

async function showFile(
  c: Context<AppEnv>,
  target: RepositoryName,
  source: Source,
  { blob, ...named }: NamedFile & { readonly blob: string },
): Promise<Response> {
  const content = await readBlob(source.read, blob, MAX_FILE_BYTES);
  const text = content === null ? ({ kind: 'unfit', problem: TOO_LARGE } as const) : fileText(content);
  const fields = {
    ...(await fieldsOf(source, named)),
    blob,
    text: text.kind === 'text' ? text.text : '',
  };
  const form = await changeForm(c, target, fields);
  return answerForm(c, changeFormPage(text.kind === 'unfit' ? { ...form, unfit: text.problem } : form));
}

async function showNewFile(
  c: Context<AppEnv>,
  target: RepositoryName,
  source: Source,
  named: NamedFile,
): Promise<Response> {
  const fields = await fieldsOf(source, named);
  const form = await changeForm(c, target, { ...fields, blob: null, text: '' });
  return answerForm(c, changeFormPage(form));
}

async function fieldsOf(
  { read, text, tip }: Source,
  { path, prHash, folders }: NamedFile,
): Promise<Omit<ChangeFields, 'blob' | 'text'>> {
  return {
    path,
    prHash,
    seen: tip,
    title: text?.title ?? '',
    description: text?.description ?? '',
    prKey: '',
    ownName: '',
    signOff: false,
    needsSignOff: await requiresSignOff(read, folders[0] ?? []),
  };
}

/** By the policy among the files that the change is for: the folder is known already. The push asks for the policy itself. */
async function requiresSignOff(read: ReadObjects, root: Folder): Promise<boolean> {
  const entry = root.find(({ name }) => decodeUtf8(name) === POLICY_PATH);
  if (entry === undefined || kindOf(entry) !== 'file') return false;
  const file = await readBlob(read, entry.oid, MAX_FILE_BYTES);
  return parsePolicy(file).requiresSignOff;
}
