/**
 * Reads and checks the fields of a change, and makes push options of them.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import { editsProblem, encodeEdits, type FileEdit, parseEdits } from '../../../edit/file-edits.ts';
import { fileText } from '../../../edit/lines.ts';
import { parsePath } from '../../../edit/path.ts';
import { utf8 } from '../../../git/bytes.ts';
import { isOid } from '../../../git/objects/oid.ts';
import { type ChangeFields, NO_FIELDS } from '../../../pages/forms/edit-page.ts';
import { MAX_OWN_NAME } from '../../../pages/forms/parts.ts';
import { MAX_DESCRIPTION_LENGTH, parsePushOptions } from '../../../push/receive/push-options.ts';
import { type FormFields, withPlainLineEnds } from '../../request/form-fields.ts';
import { problem, type Refused } from '../../request/refused.ts';

/** Reads the fields as they were sent; ids that are no ids count as empty. */
export function changeFields(fields: FormFields): ChangeFields {
  const whole = (name: string): string => withPlainLineEnds(fields.get(name) ?? '');
  const trimmed = Object.keys(NO_FIELDS).map((name) => [name, whole(name).trim()]);
  const { blob, seen, pr_hash, pr_key, ...others } = Object.fromEntries(trimmed) as ChangeFields;
  return {
    ...others,
    blob: isOid(blob) ? blob : '',
    seen: isOid(seen) ? seen : '',
    path: fields.get('path') ?? '',
    text: whole('text'),
    pr_hash: pr_hash.toLowerCase(),
    pr_key: pr_key.toLowerCase(),
  };
}

/**
 * Lists the files of a change, the one that is being edited first.
 * @param others the further ones.
 */
export function editsOf(
  { path, blob, text, removed }: Pick<ChangeFields, 'path' | 'blob' | 'text' | 'removed'>,
  others: readonly FileEdit[],
): readonly FileEdit[] {
  return [{ path, blob, text, isRemoved: removed !== '' }, ...others];
}

/** Fills in the files of a change, the first of which is to be edited. */
export function withEdits(fields: ChangeFields, files: readonly FileEdit[]): ChangeFields {
  const [{ isRemoved, ...first }, ...others] = files as readonly [FileEdit];
  return { ...fields, ...first, removed: isRemoved ? 'yes' : '', others: encodeEdits(others) };
}

/** A file of a change, with the parts of its path. */
export interface CheckedEdit {
  readonly edit: FileEdit;
  readonly parts: readonly string[];
}

const invalid = (explanation: string): Refused => problem(400, explanation);
const LOST = 'The further files of this change cannot be read. Begin a new change.';

/** Checks what needs no request. */
export function checkChangeFields(
  fields: ChangeFields,
): { readonly kind: 'files'; readonly files: readonly CheckedEdit[] } | Refused {
  const others = parseEdits(fields.others);
  if (others === null) return invalid(LOST);
  const files: CheckedEdit[] = [];
  const edits = editsOf(fields, others);
  for (const edit of edits) {
    const parts = partsOf(edit);
    if (typeof parts === 'string') return invalid(parts);
    files.push({ edit, parts });
  }
  const misfit = editsProblem(edits);
  if (misfit !== null) return invalid(misfit);
  return textsProblem(fields) ?? { kind: 'files', files };
}

/** Returns the parts of the path of a file that may be sent, or the reason why it may not. */
function partsOf({ path, blob, text, isRemoved }: FileEdit): readonly string[] | string {
  const parsed = parsePath(path);
  if (parsed.kind === 'invalid') return parsed.problem;
  if (parsed.parts.length === 0) return 'Write the path of the file.';
  if (isRemoved && blob === '') return `${path} is new: take it out instead of removing it.`;
  const file = isRemoved ? null : fileText(utf8(text));
  return file?.kind === 'unfit' ? file.problem : parsed.parts;
}

function textsProblem(fields: ChangeFields): Refused | null {
  const { title, description } = fields;
  if (title === '') return invalid('Write a title that says what you change.');
  if (fields.own_name.length > MAX_OWN_NAME)
    return invalid(`Your name must have at most ${MAX_OWN_NAME} characters.`);
  const parsed = parsePushOptions(pushOptionsOf(fields, { title, description }));
  if (parsed.kind === 'valid') return null;
  // The option's own rule speaks of one line, as a push sends it.
  const rule = `The description must be a text of at most ${MAX_DESCRIPTION_LENGTH} characters.`;
  return invalid(parsed.option === 'description' ? rule : `${parsed.message}.`);
}

/** @param texts title and description, where the pull request gets them from options. */
export function pushOptionsOf(
  { pr_hash, pr_key, sign_off, ai, issue }: ChangeFields,
  texts: Readonly<Record<string, string>>,
): string[] {
  const stated = Object.entries({ 'pr-hash': pr_hash, 'pr-key': pr_key, ai, issue });
  const given = [...Object.entries(texts), ...stated.filter(([, value]) => value !== '')];
  return [...given.map(([name, value]) => `${name}=${value}`), ...(sign_off === '' ? [] : ['sign-off'])];
}
