/**
 * Reads and checks the fields of a change, and makes push options of them.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import { fileText } from '../../../edit/lines.ts';
import { parsePath } from '../../../edit/path.ts';
import { utf8 } from '../../../git/bytes.ts';
import { isOid } from '../../../git/objects/oid.ts';
import { type ChangeFields, NO_FIELDS } from '../../../pages/forms/change-pages.ts';
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

const invalid = (explanation: string): Refused => problem(400, explanation);

/** Checks what needs no request. */
export function checkChangeFields(
  fields: ChangeFields,
): { readonly kind: 'path'; readonly parts: readonly string[] } | Refused {
  const path = parsePath(fields.path);
  if (path.kind === 'invalid') return invalid(path.problem);
  if (path.parts.length === 0) return invalid('Write the path of the file.');
  const file = fileText(utf8(fields.text));
  if (file.kind === 'unfit') return invalid(file.problem);
  const { title, description } = fields;
  if (title === '') return invalid('Write a title that says what you change.');
  if (fields.own_name.length > MAX_OWN_NAME)
    return invalid(`Your name must have at most ${MAX_OWN_NAME} characters.`);
  const parsed = parsePushOptions(pushOptionsOf(fields, { title, description }));
  if (parsed.kind === 'valid') return path;
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
