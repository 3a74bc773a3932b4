/**
 * POST …/change: the form of a change is previewed, corrected, and sent. The service keeps nothing in between: the form
 * holds everything, and each step reads again what upstream has.
 */
import type { Context } from 'hono';
import { newAddresses } from '../../../edit/addresses.ts';
import { buildChange } from '../../../edit/build-change.ts';
import { difference } from '../../../edit/hunks.ts';
import { fileText, MAX_FILE_BYTES, newContent } from '../../../edit/lines.ts';
import { findPath, type Folder, type ReadObjects, readBlob } from '../../../upstream/tree-reader.ts';
import type { AppEnv } from '../../../env.ts';
import { decodeUtf8 } from '../../../git/bytes.ts';
import type { Oid } from '../../../git/objects/oid.ts';
import { HostError, MovedError } from '../../../host-error.ts';
import { readMarkdown } from '../../../text/markdown.ts';
import { noiseProblem } from '../../../text/noise.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import { type ChangeForm, changeFormPage, changePreviewPage } from '../../../pages/forms/change-pages.ts';
import { changeLink } from '../../../pages/forms/folder-page.ts';
import { NOBODY_SEARCHED } from '../../../push/judge/names/findings.ts';
import type { PushHost } from '../../../push/push-host.ts';
import { pushHost } from '../../git/push-host.ts';
import { problem, sentence } from '../../request/refused.ts';
import { answerForm, placeOf, receiveForm, type SentForm } from '../form.ts';
import { NO_NAME } from '../thread-forms.ts';
import {
  changeFields,
  changeForm,
  checkFields,
  hostFailure,
  identityOf,
  pushOptionsOf,
  refuseReading,
  showAgain,
  TEXT_TOO_LARGE,
} from './change-form.ts';
import {
  type FormPush,
  openChange,
  openedBefore,
  pushChange,
  refusalOf,
  refusedPush,
  refusePush,
} from './open-change.ts';
import { problemOf } from './show-change.ts';
import { openSource, type Source } from './source.ts';
import { CHANGE_FORM } from '../../request/repository.ts';

/** A file of the largest size, and what escaping makes of it: a line feed is sent as six characters. */
const MAX_FORM_BYTES = 7 * 1024 * 1024;

const MOVED = problem(409, 'The repository has another name now. Open its page under the new name.');
const UNFIT = problem(409, 'This file cannot be changed here. Change it with Git.');
const NAMED = 'Change the text. If all of it may be public, empty the field “Your name”.';
const UNCHANGED = problem(400, 'You have not changed the text yet.');
const NO_KEY = problem(
  400,
  'To change title or description, give the key of the pull request: it was shown when the pull request was opened.',
);

export async function sendChange(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const host = pushHost(c);
  const { action: path } = placeOf(c, target, CHANGE_FORM);
  return receiveForm(c, path, MAX_FORM_BYTES, (sent) => answerChange(c, host, target, sent), host.memory);
}

async function answerChange(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const form = await changeForm(c, target, changeFields(fields), token?.text);
  if (token === null) return showAgain(c, form, problem(403, unfit));
  const step = fields.get('step');
  if (step === 'edit') return answerForm(c, changeFormPage(form));
  const checked = checkFields(form);
  if (checked.kind === 'refused') return showAgain(c, form, checked);
  const refused = await refuseReading(c);
  if (refused !== null) return showAgain(c, form, refused);
  const opened = step === 'open' ? await openedBefore(c, target, form, token) : null;
  if (opened !== null) return opened;
  const refusal = await refusePush(host);
  if (refusal !== null) return showAgain(c, form, refusedPush(refusal));
  try {
    const change = await prepareChange(c, host, target, form, checked.parts);
    if (change instanceof Response) return change;
    const { source, content, folders } = change;
    const { title, description } = form;
    const isNew = {
      title: source.text?.title !== title,
      description: source.text?.description !== description,
    };
    const isRetitled = source.text !== null && (isNew.title || isNew.description);
    // In words for a form: the push would refuse it, too.
    if (isRetitled && form.prKey === '') return showAgain(c, form, NO_KEY);
    const texts = {
      title: readMarkdown(isNew.title ? title : ''),
      description: readMarkdown(isNew.description ? description : ''),
    };
    const noise = noiseProblem(texts, { hostUrl: c.var.host.url, repository: target });
    if (noise !== null) return showAgain(c, form, problem(400, sentence(noise)));
    const built = buildChange({
      folders,
      path: checked.parts,
      content,
      parent: source.parent,
      message: `${title}\n${description === '' ? '' : `\n${description}\n`}`,
      // With the form's time, the same form makes the same commit.
      committedAt: Math.floor(token.madeAt / 1000),
      identity: identityOf(form, c.var.config.anonEmail),
    });
    const pushOptions = pushOptionsOf(form, isRetitled ? isNew : { title: false, description: false });
    const push = { admission: host.admission, change: built, base: source.base, pushOptions };
    if (step !== 'open') return await previewChange(c, target, form, change, push);
    // A value that is none is refused as that of a push.
    const delay = fields.get('delay') ? [`delay=${fields.get('delay')}`] : [];
    return await openChange(c, target, form, token, { ...push, pushOptions: [...pushOptions, ...delay] });
  } catch (error) {
    return showAgain(c, form, error instanceof MovedError ? MOVED : hostFailure(c, error));
  }
}

interface PreparedChange {
  readonly source: Source;
  readonly folders: readonly Folder[];
  /** Null: a new file. */
  readonly original: Uint8Array | null;
  readonly content: Uint8Array;
  /** Whether upstream has moved since the form was opened. */
  readonly hasMoved: boolean;
}

/** Reads what upstream has now. The answer, if the change does not fit. */
async function prepareChange(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  form: ChangeForm,
  parts: readonly string[],
): Promise<PreparedChange | Response> {
  const source = await openSource(c, host, target, form.prHash === '' ? null : form.prHash);
  if (source.kind === 'refused') return showAgain(c, form, problem(409, source.error));
  const found = await findPath(source.read, source.root, parts);
  if (found.kind !== 'file' && found.kind !== 'missing') {
    return showAgain(c, form, problem(409, problemOf(found, parts)));
  }
  const blob = found.kind === 'file' ? found.blob : null;
  if (blob !== form.blob) return showTheirs(c, form, source, blob);
  const original = blob === null ? null : await readBlob(source.read, blob, MAX_FILE_BYTES);
  const isUnfit = blob !== null && (original === null || fileText(original).kind === 'unfit');
  if (isUnfit) return showAgain(c, form, UNFIT);
  const content = newContent(original, form.text);
  if (content.byteLength > MAX_FILE_BYTES) return showAgain(c, form, TEXT_TOO_LARGE);
  if (original !== null && Buffer.compare(original, content) === 0) return showAgain(c, form, UNCHANGED);
  const hasMoved = form.seen !== null && form.seen !== source.tip;
  return { source, folders: found.folders, original, content, hasMoved };
}

/** Others have changed the file: both texts are shown, and the next attempt is based on theirs. */
async function showTheirs(
  c: Context<AppEnv>,
  form: ChangeForm,
  source: Source,
  blob: Oid | null,
): Promise<Response> {
  const before = form.blob === null ? '' : await textOf(source.read, form.blob);
  const now = blob === null ? '' : await textOf(source.read, blob);
  const again = { ...form, blob, seen: source.tip };
  const words =
    blob === null
      ? 'Others have removed this file since you began. If you send it again, it is added as a new file.'
      : 'Others have changed this file since you began. Their changes are shown below: put them into your text. If you send your text as it is, it replaces theirs.';
  const theirs = before === null || now === null ? {} : { theirs: difference(before, now) };
  return answerForm(c, changeFormPage({ ...again, ...theirs, problem: words }), 409);
}

/** Null if it cannot be shown: the host may have removed what no branch has any more. */
async function textOf(read: ReadObjects, blob: Oid): Promise<string | null> {
  try {
    const content = await readBlob(read, blob, MAX_FILE_BYTES);
    const text = content === null ? null : fileText(content);
    return text?.kind === 'text' ? text.text : null;
  } catch (error) {
    if (error instanceof HostError) return null;
    throw error;
  }
}

async function previewChange(
  c: Context<AppEnv>,
  target: RepositoryName,
  form: ChangeForm,
  { original, content, hasMoved }: PreparedChange,
  push: FormPush,
): Promise<Response> {
  const pushOptions = [...push.pushOptions, 'preview'];
  const { outcome, notes, same } = await pushChange(c, target, { ...push, pushOptions });
  const refusal = refusalOf(outcome);
  const { preview } = refusal;
  if (preview === null) return showAgain(c, form, refusedPush(refusal));
  if (preview.refusal !== null) {
    const words = [sentence(preview.refusal), ...preview.remarks, NAMED].join('\n');
    return showAgain(c, form, problem(400, words));
  }
  const [before, after] = [original === null ? '' : (decodeUtf8(original) ?? ''), decodeUtf8(content) ?? ''];
  const { author, title, body, remarks } = preview;
  const page = {
    author,
    base: push.base,
    title,
    body,
    remarks: [...notes, ...remarks].map((remark) => (remark === NOBODY_SEARCHED ? NO_NAME : remark)),
    addresses: newAddresses(before, [after, form.title, form.description].join('\n')),
    difference: difference(before, after),
    isDelayed: c.var.config.publishDelayMs > 0,
    hasMoved,
    same: same && { url: same.url, edit: changeLink(form.action, form.path, same.prHash) },
  };
  return answerForm(c, changePreviewPage(form, page));
}
