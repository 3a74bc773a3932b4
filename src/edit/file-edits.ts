/**
 * The files of a change, as its form carries them from step to step, because the service keeps
 * nothing. Pure.
 */
import * as z from 'zod';

export interface FileEdit {
  readonly path: string;
  /** The id of the file as it was shown, or empty for a new one. */
  readonly blob: string;
  readonly text: string;
  readonly isRemoved: boolean;
}

/** Maximum number of files. Each may cost some requests to the code host. */
export const MOST_FILES = 10;

const FILE_EDITS = z
  .array(
    z.strictObject({
      path: z.string().min(1),
      blob: z.string().regex(/^(?:[0-9a-f]{40})?$/),
      text: z.string(),
      isRemoved: z.boolean(),
    }),
  )
  .max(MOST_FILES - 1);

/** Writes files into one field. JSON has no line ends, which browsers would change. */
export function encodeEdits(files: readonly FileEdit[]): string {
  return files.length === 0 ? '' : JSON.stringify(files);
}

/** Reads the field, or returns null if the service has not written it. */
export function parseEdits(field: string): readonly FileEdit[] | null {
  if (field === '') return [];
  try {
    return FILE_EDITS.safeParse(JSON.parse(field)).data ?? null;
  } catch {
    return null;
  }
}

/** Puts a file in front of the others, which is the one that is being edited. */
export function withFirst(files: readonly FileEdit[], first: FileEdit): readonly FileEdit[] {
  return [first, ...files.filter(({ path }) => path !== first.path)];
}

/** Says why files do not make one change, or returns null if they do. */
export function editsProblem(files: readonly FileEdit[]): string | null {
  const paths = files.map(({ path }) => path);
  const twice = paths.find((path, index) => paths.indexOf(path) < index);
  if (twice !== undefined) return `${twice} is in this change twice. Take one of both out.`;
  const folder = paths.find((path) => paths.some((other) => other.startsWith(`${path}/`)));
  return folder === undefined ? null : `${folder} is a file of this change, and a folder of another one.`;
}

/** Matches names that can stand in a title: without marks that mention people or issues. */
const PLAIN_NAME = /^[\p{L}\p{N}_. +-]{1,100}$/u;

/**
 * Makes the title that most people would write: `Update guide.md`. It does not depend on which file
 * is being edited.
 */
export function usualTitle(files: readonly FileEdit[]): string {
  const [first] = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  if (first === undefined) return '';
  const isAll = (is: (file: FileEdit) => boolean): boolean => files.every(is);
  const added = isAll(({ blob }) => blob === '') ? 'Add' : 'Update';
  const verb = isAll(({ isRemoved }) => isRemoved) ? 'Remove' : added;
  const name = first.path.slice(first.path.lastIndexOf('/') + 1);
  const more = files.length - 1;
  const rest = more === 0 ? '' : ` and ${more} more ${more === 1 ? 'file' : 'files'}`;
  return `${verb} ${PLAIN_NAME.test(name) ? name : 'a file'}${rest}`;
}
