/**
 * Reads the files of a change as upstream has them now, and makes the new ones. If others have
 * changed one of them meanwhile, the form shows what they have changed.
 * Proved by test/e2e/people/change-form.test.ts and test/e2e/people/change-files.test.ts.
 */
import type { FileChange } from '../../../edit/build-change.ts';
import { type FileEdit, withFirst } from '../../../edit/file-edits.ts';
import { difference, fileText, MAX_FILE_BYTES, newContent } from '../../../edit/lines.ts';
import { decodeUtf8 } from '../../../git/bytes.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import type { MemoryHold } from '../../../isolate/memory-budget.ts';
import type { PreviewedFile } from '../../../pages/forms/change-pages.ts';
import { type ChangeForm, changeFormPage } from '../../../pages/forms/edit-page.ts';
import { pushHost } from '../../../service/open-push.ts';
import { findPath, type ReadObjects, readBlob } from '../../../upstream/tree-reader.ts';
import { HostError } from '../../../words/host-error.ts';
import { problem, type Refused } from '../../request/refused.ts';
import { hostScopeOf } from '../../request/scope.ts';
import { answerForm, type RequestedForm } from '../form.ts';
import { type CheckedEdit, editsOf, withEdits } from './change-fields.ts';
import { changeForm } from './change-form.ts';
import { pathProblem } from './choose-file.ts';
import { type ChangeSource, openSource } from './source.ts';

const REMOVED =
  'Others have removed this file since you began. If you send it again, it is added as a new file.';
const CHANGED =
  'Others have changed this file since you began. Their changes are shown below: put them into your text. If you send your text as it is, it replaces theirs.';

/** A file of a change, as it was and as it becomes. */
export interface PreparedFile extends FileChange {
  readonly edit: FileEdit;
  /** The old content, or null if the file is new, or larger than a browser can show. */
  readonly original: Uint8Array | null;
}

export interface PreparedChange {
  readonly kind: 'change';
  readonly source: ChangeSource;
  readonly files: readonly PreparedFile[];
}

/** Bounds the old files of a change together: a form has room for fewer new ones. */
const MAX_ORIGINAL_BYTES = 4 * 1024 * 1024;
const TOO_LARGE = problem(
  409,
  'These files are too large together. Take some out, or use Git for larger changes.',
);

/** Reads what upstream has now. Gives the answer if the change does not fit. */
export async function prepareChange(
  place: RequestedForm,
  form: ChangeForm,
  checked: readonly CheckedEdit[],
  memory: MemoryHold,
): Promise<PreparedChange | Response | Refused> {
  const { c, target } = place;
  const source = await openSource(c, pushHost(hostScopeOf(c), { memory }), target, form.fields.pr_hash);
  if (source.kind === 'refused') return problem(409, source.error);
  const files: PreparedFile[] = [];
  let bytesLeft = MAX_ORIGINAL_BYTES;
  for (const { edit, parts } of checked) {
    const found = await findPath(source.read, source.root, parts);
    if (found.kind !== 'file' && found.kind !== 'missing') return problem(409, pathProblem(found, parts));
    const blob = found.kind === 'file' ? found.blob : '';
    if (blob !== edit.blob) return showTheirs(place, form, source, edit, blob);
    const prepared = await prepareFile(source.read, edit, checked.length);
    if (prepared.kind === 'refused') return prepared;
    bytesLeft -= prepared.original?.byteLength ?? 0;
    if (bytesLeft < 0) return TOO_LARGE;
    files.push({ ...prepared, path: parts, folders: found.folders });
  }
  return { kind: 'change', source, files };
}

async function prepareFile(
  read: ReadObjects,
  edit: FileEdit,
  files: number,
): Promise<(Omit<PreparedFile, 'folders' | 'path'> & { readonly kind: 'file' }) | Refused> {
  const { path, blob, text, isRemoved } = edit;
  const original = blob === '' ? null : await readBlob(read, blob, MAX_FILE_BYTES);
  if (isRemoved) return { kind: 'file', edit, original, content: null };
  const unfit = problem(
    409,
    `${files === 1 ? 'This file' : path} cannot be changed here. Change it with Git.`,
  );
  if (blob !== '' && fileText(original).kind === 'unfit') return unfit;
  const content = newContent(original, text, files);
  // The file's own line ends may be longer than those of the form.
  if (content.byteLength > MAX_FILE_BYTES) return unfit;
  if (original !== null && Buffer.compare(original, content) === 0)
    return problem(400, `You have not changed ${files === 1 ? 'the text' : path} yet.`);
  return { kind: 'file', edit, original, content };
}

/**
 * Shows a file that others have changed, with their changes, on which the next attempt is based.
 * @param blob the file as it is now, or empty if it is gone.
 */
async function showTheirs(
  place: RequestedForm,
  form: ChangeForm,
  { read, tip }: ChangeSource,
  edit: FileEdit,
  blob: Oid,
): Promise<Response> {
  const [before, now] = [await blobText(read, edit.blob), await blobText(read, blob)];
  const theirs = before === null || now === null ? {} : { theirs: difference(before, now) };
  const isRemoved = edit.isRemoved && blob !== '';
  const files = withFirst(editsOf(form.fields, form.others), { ...edit, blob, isRemoved });
  const fields = { ...withEdits(form.fields, files), seen: tip };
  const again = await changeForm(place, fields, form.token);
  return answerForm(
    place.c,
    changeFormPage({ ...again, ...theirs, problem: blob === '' ? REMOVED : CHANGED }),
    409,
  );
}

/**
 * Reads the text of a file; null if it cannot be shown: hosts may remove what no branch has.
 * @param blob empty for no file.
 */
async function blobText(read: ReadObjects, blob: Oid): Promise<string | null> {
  if (blob === '') return '';
  try {
    const file = fileText(await readBlob(read, blob, MAX_FILE_BYTES));
    return file.kind === 'text' ? file.text : null;
  } catch (error) {
    if (error instanceof HostError) return null;
    throw error;
  }
}

/** Compares the files as a preview shows them. */
export function previewedFiles(files: readonly PreparedFile[]): readonly PreviewedFile[] {
  return files.map(({ edit, original, content }) => {
    const [before, after] = [contentText(original), contentText(content)];
    const isShown = content !== null || fileText(original).kind === 'text';
    return { ...edit, difference: isShown ? difference(before, after, files.length) : null };
  });
}

/** Reads a text, which is empty if there is none. */
export function contentText(content: Uint8Array | null): string {
  return content === null ? '' : (decodeUtf8(content) ?? '');
}
