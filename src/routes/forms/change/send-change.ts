/** POST …/change: preview, correct, send. The form holds everything, and each step reads again what upstream has. */
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
import { NOBODY_SEARCHED } from '../../../push/judge/names/search-names.ts';
import type { PushHost } from '../../../push/push-host.ts';
import { pushHost } from '../../git/push-host.ts';
import { problem, sentence } from '../../request/refused.ts';
import { answerForm, type Place, receiveForm, type SentForm } from '../form.ts';
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
} from './change-form.ts';
import {
  type FormPush,
  openChange,
  openedBefore,
  push,
  refusalOf,
  refusedPush,
  refusePush,
} from './open-change.ts';
import { problemOf } from './show-change.ts';
import { openSource, type Source } from './source.ts';

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

export async function sendChange(place: Place): Promise<Response> {
  const host = pushHost(place.c);
  const answer = (sent: SentForm) => answerChange(place, host, sent);
  return receiveForm(place.c, place.action, MAX_FORM_BYTES, answer, host.memory);
}

async function answerChange(
  place: Place,
  host: PushHost,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const { c, target } = place;
  const form = await changeForm(place, changeFields(fields), token?.text);
  if (token === null) return showAgain(c, form, problem(403, unfit));
  const step = fields.get('step');
  if (step === 'edit') return answerForm(c, changeFormPage(form));
  const checked = checkFields(form);
  if (checked.kind === 'refused') return showAgain(c, form, checked);
  const refused = await refuseReading(c);
  if (refused !== null) return showAgain(c, form, refused);
  const opened = step === 'open' ? await openedBefore(place, form, token) : null;
  if (opened !== null) return opened;
  const refusal = await refusePush(c);
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
    const { tip, pack } = buildChange({
      folders,
      path: checked.parts,
      content,
      parent: source.parent,
      message: `${title}\n${description === '' ? '' : `\n${description}\n`}`,
      // With the form's time, the same form makes the same commit.
      committedAt: Math.floor(token.madeAt / 1000),
      identity: identityOf(form, c.var.config.anonEmail),
    });
    // A value that is none is refused as that of a push.
    const delay = step === 'open' && fields.get('delay') ? [`delay=${fields.get('delay')}`] : [];
    const options = pushOptionsOf(form, isRetitled ? isNew : { title: false, description: false });
    const toPush = {
      isAsked: true,
      refName: `refs/for/${source.base}`,
      tip,
      pack,
      pushOptions: [...options, ...(step === 'open' ? delay : ['preview'])],
    };
    return await (step === 'open'
      ? openChange(place, form, token, toPush)
      : previewChange(place, form, change, toPush));
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
  const source = await openSource(c, host, target, form.prHash);
  if (source.kind === 'refused') return showAgain(c, form, problem(409, source.error));
  const found = await findPath(source.read, source.root, parts);
  if (found.kind !== 'file' && found.kind !== 'missing') {
    return showAgain(c, form, problem(409, problemOf(found, parts)));
  }
  const blob = found.kind === 'file' ? found.blob : null;
  if (blob !== form.blob) return showTheirs(c, form, source, blob);
  const original = blob === null ? null : await readBlob(source.read, blob, MAX_FILE_BYTES);
  if (blob !== null && fileText(original).kind === 'unfit') return showAgain(c, form, UNFIT);
  const content = newContent(original, form.text);
  // The file's own line ends may be longer than those of the form.
  if (content.byteLength > MAX_FILE_BYTES) return showAgain(c, form, UNFIT);
  if (original !== null && Buffer.compare(original, content) === 0) return showAgain(c, form, UNCHANGED);
  const hasMoved = form.seen !== null && form.seen !== source.tip;
  return { source, folders: found.folders, original, content, hasMoved };
}

const REMOVED =
  'Others have removed this file since you began. If you send it again, it is added as a new file.';
const CHANGED =
  'Others have changed this file since you began. Their changes are shown below: put them into your text. If you send your text as it is, it replaces theirs.';

/** Others have changed the file: both texts are shown, and the next attempt is based on theirs. */
async function showTheirs(
  c: Context<AppEnv>,
  form: ChangeForm,
  { read, tip: seen }: Source,
  blob: Oid | null,
): Promise<Response> {
  const before = await textOf(read, form.blob);
  const now = await textOf(read, blob);
  const theirs = before === null || now === null ? {} : { theirs: difference(before, now) };
  const again = { ...form, blob, seen, ...theirs, problem: blob === null ? REMOVED : CHANGED };
  return answerForm(c, changeFormPage(again), 409);
}

/** Null if it cannot be shown: the host may have removed what no branch has any more. @param blob null: no file. */
async function textOf(read: ReadObjects, blob: Oid | null): Promise<string | null> {
  if (blob === null) return '';
  try {
    const file = fileText(await readBlob(read, blob, MAX_FILE_BYTES));
    return file.kind === 'text' ? file.text : null;
  } catch (error) {
    if (error instanceof HostError) return null;
    throw error;
  }
}

async function previewChange(
  place: Place,
  form: ChangeForm,
  { source, original, content, hasMoved }: PreparedChange,
  toPush: FormPush,
): Promise<Response> {
  const { c } = place;
  const { outcome, notes, same } = await push(place, toPush);
  const refusal = refusalOf(outcome);
  const { preview } = refusal;
  if (preview === null) return showAgain(c, form, refusedPush(refusal));
  if (preview.refusal !== null) {
    const words = [sentence(preview.refusal), ...preview.remarks, NAMED].join('\n');
    return showAgain(c, form, problem(400, words));
  }
  const [before, after] = [original === null ? '' : (decodeUtf8(original) ?? ''), decodeUtf8(content) ?? ''];
  const page = changePreviewPage(form, {
    ...preview,
    base: source.base,
    remarks: [...notes, ...preview.remarks].map((remark) => (remark === NOBODY_SEARCHED ? NO_NAME : remark)),
    addresses: newAddresses(before, [after, form.title, form.description].join('\n')),
    difference: difference(before, after),
    isDelayed: c.var.config.publishDelayMs > 0,
    hasMoved,
    same,
  });
  return answerForm(c, page);
}
