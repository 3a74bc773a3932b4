/** What the form of a change holds, and the rules for it. */
import { hasTooManyLines, LINE_LIMIT, MAX_FILE_BYTES } from '../../../edit/lines.ts';
import { type ParsedPath, parsePath } from '../../../edit/path.ts';
import { type FormFields, withPlainLineEnds } from '../../../forms/form-fields.ts';
import type { Identity } from '../../../git/objects/commit.ts';
import { isOid, type Oid } from '../../../git/objects/oid.ts';
import type { ChangeFields } from '../../../pages/forms/change-pages.ts';
import { MAX_OWN_NAME } from '../../../pages/forms/parts.ts';
import { MAX_DESCRIPTION_LENGTH, parsePushOptions } from '../../../push/receive/push-options.ts';
import { problem, type Refused } from '../../request/refused.ts';

export function changeFields(fields: FormFields): ChangeFields {
  const value = (name: string): string => fields.get(name) ?? '';
  const oid = (name: string): Oid | null => (isOid(value(name)) ? value(name) : null);
  return {
    path: value('path'),
    blob: oid('blob'),
    seen: oid('seen'),
    text: withPlainLineEnds(value('text')),
    title: value('title').trim(),
    description: withPlainLineEnds(value('description')).trim(),
    ownName: value('own_name').trim(),
    prHash: value('pr_hash').trim().toLowerCase(),
    prKey: value('pr_key').trim().toLowerCase(),
    signOff: value('sign_off') !== '',
    needsSignOff: value('needs_sign_off') !== '',
  };
}

/** What can be said without asking anyone. */
export function checkFields(
  fields: ChangeFields,
): { readonly kind: 'valid'; readonly parts: readonly string[] } | Refused {
  const path: ParsedPath = parsePath(fields.path);
  if (path.kind === 'invalid') return invalid(path.problem);
  if (path.parts.length === 0) return invalid('Write the path of the file.');
  if (Buffer.byteLength(fields.text) > MAX_FILE_BYTES) {
    return TEXT_TOO_LARGE;
  }
  if (hasTooManyLines(fields.text)) {
    return invalid(`The text has more than ${LINE_LIMIT}. Shorten it, or change the file with Git.`);
  }
  if (fields.text.includes('\0')) return invalid('The text must not contain NUL characters.');
  if (fields.title === '') return invalid('Write a title that says what you change.');
  if (fields.ownName.length > MAX_OWN_NAME) {
    return invalid(`Your name must have at most ${MAX_OWN_NAME} characters.`);
  }
  if (fields.needsSignOff && !fields.signOff) return UNSIGNED;
  const parsed = parsePushOptions(pushOptionsOf(fields, { title: true, description: true }));
  // Its rule is for a push, which sends one line.
  if (parsed.kind === 'invalid' && parsed.option === 'description') {
    return invalid(`The description must be a text of at most ${MAX_DESCRIPTION_LENGTH} characters.`);
  }
  if (parsed.kind === 'invalid') return invalid(`${parsed.message}.`);
  return { kind: 'valid', parts: path.parts };
}

/** @param texts which texts the pull request gets from the options instead of from the commit. */
export function pushOptionsOf(
  { title, description, prHash, prKey, signOff }: ChangeFields,
  texts: { readonly title: boolean; readonly description: boolean },
): string[] {
  return [
    ...(texts.title ? [`title=${title}`] : []),
    ...(texts.description ? [`description=${description}`] : []),
    ...(prHash === '' ? [] : [`pr-hash=${prHash}`]),
    ...(prKey === '' ? [] : [`pr-key=${prKey}`]),
    ...(signOff ? ['sign-off'] : []),
  ];
}

/** The author of the commit that is pushed, for whom the service searches and whom it then replaces. */
export function identityOf({ ownName }: Pick<ChangeFields, 'ownName'>, anonEmail: string): Identity {
  const text = ownName.replaceAll(/[<>\s\p{Cc}]+/gu, ' ');
  const email = text.split(' ').find((word) => /.@./.test(word)) ?? '';
  return { name: text.replace(email, '').trim(), email: email === '' ? anonEmail : email };
}

export function commitMessage({ title, description }: ChangeFields): string {
  return `${title}\n${description === '' ? '' : `\n${description}\n`}`;
}

export const TEXT_TOO_LARGE = problem(
  400,
  'The text is larger than 1 MB. Shorten it, or change the file with Git.',
);

const UNSIGNED = problem(
  400,
  'This project takes only changes under the Developer Certificate of Origin. Read it, and tick its box below.',
);

const invalid = (explanation: string): Refused => problem(400, explanation);
