/**
 * Handles POST …/change: preview, correct, send. Preview and sending read upstream again. The token
 * and what was typed decide the hash of the pull request: so a form that is sent twice finds the
 * one that it has opened, and a form that was corrected in between opens another.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import { newAddresses } from '../../../edit/addresses.ts';
import { buildChange } from '../../../edit/build-change.ts';
import { newUnseen } from '../../../edit/unseen.ts';
import { MovedError } from '../../../words/host-error.ts';
import { systemClock } from '../../../isolate/clock.ts';
import type { MemoryHold } from '../../../isolate/memory-budget.ts';
import { pullRequestOf } from '../../../objects.ts';
import { changeDelayedPage, changePreviewPage } from '../../../pages/forms/change-pages.ts';
import { type ChangeFields, type ChangeForm, changeFormPage } from '../../../pages/forms/edit-page.ts';
import { NOBODY_SEARCHED, SEARCHED_FOR } from '../../../leaks/findings.ts';
import { NO_NAME_FOUND } from '../../../leaks/search-names.ts';
import { delayedSentence } from '../../../push/reply/banner.ts';
import type { FormToken } from '../../../secret/form-token.ts';
import { prKeyOf } from '../../../secret/keyed-hash.ts';
import { serviceSecret } from '../../../secret/open-secret.ts';
import { mayBeRecorded } from '../../../stats/recorded-hashes.ts';
import { readMarkdown } from '../../../text/markdown.ts';
import { noiseProblem } from '../../../text/noise.ts';
import type { FormFields } from '../../request/form-fields.ts';
import { problem, type Refused } from '../../request/refused.ts';
import { sentence } from '../../../words/sentence.ts';
import { answerForm, typedIdentity, NO_NAME, type RequestedForm, secretsOf, type SentForm } from '../form.ts';
import { showOpened } from '../opened.ts';
import { changeFields, checkChangeFields, pushOptionsOf } from './change-fields.ts';
import { changeForm, showAgain } from './change-form.ts';
import { takeEditStep } from './edit-steps.ts';
import { type FormPush, push, outcomeRefusal, formRefusal, refusePush } from './form-push.ts';
import { contentText, prepareChange, type PreparedChange, previewedFiles } from './prepare-change.ts';
import { hostFailure, refuseReading, type ChangeSource } from './source.ts';

/** How long the second of two equal forms waits for the first. */
const ATTEMPTS = 20;
const PAUSE_MS = 3_000;

const MOVED = problem(409, 'The repository has another name now. Open its page under the new name.');
const NO_KEY = problem(
  400,
  'To change title or description, give the key of the pull request: it was shown when the pull request was opened.',
);
const WAITS_ALREADY =
  'The same change waits already. Only its page, whose address the first answer told, changes that.';
const NAMED = 'Change the text. If all of it may be public, empty the field “Your name”.';
const NAME_FIRST = problem(400, 'Write the name that is to be searched for in the field “Your name”.');

export async function sendChange(
  place: RequestedForm,
  sent: SentForm,
  memory: MemoryHold,
): Promise<Response> {
  const { c } = place;
  const { fields, token, problem: unfit } = sent;
  const form = await changeForm(place, changeFields(fields), token?.text);
  if (token === null) return showAgain(c, form, problem(403, unfit));
  const taking = async () =>
    (await takeEditStep(place, form, fields, memory)) ??
    (await takeStep(place, form, token, stepOf(fields), memory));
  const answer = await taking().catch((error: unknown) =>
    error instanceof MovedError ? MOVED : hostFailure(c, error),
  );
  return answer instanceof Response ? answer : showAgain(c, form, answer);
}

/** @property delay a value of the push option; empty for the service's default. */
type Step = { readonly kind: 'preview' | 'search' } | { readonly kind: 'open'; readonly delay: string };

function stepOf(fields: FormFields): Step {
  const step = fields.get('step');
  if (step === 'open') return { kind: 'open', delay: fields.get('delay') ?? '' };
  return { kind: step === 'search' ? 'search' : 'preview' };
}

async function takeStep(
  place: RequestedForm,
  form: ChangeForm,
  token: FormToken,
  step: Step,
  memory: MemoryHold,
): Promise<Response | Refused> {
  const { c } = place;
  if (step.kind === 'search' && form.fields.own_name === '') return NAME_FIRST;
  const checked = checkChangeFields(form.fields);
  if (checked.kind === 'refused') return checked;
  const refused = await refuseReading(c);
  if (refused !== null) return refused;
  const opened = step.kind === 'open' ? await openedBefore(place, form.fields, token) : null;
  if (opened !== null) return opened;
  const refusal = await refusePush(c);
  if (refusal !== null) return formRefusal(refusal);
  const change = await prepareChange(place, form, checked.files, memory);
  if (change instanceof Response || change.kind === 'refused') return change;
  const texts = optionTexts(change.source, form.fields);
  const unfit = refuseTexts(place, form.fields, texts);
  if (unfit !== null) return unfit;
  const toPush = pushOf(place, form.fields, change, {
    token,
    // The push refuses an invalid delay.
    options: pushOptionsOf(form.fields, texts ?? {}).concat(lastOption(step)),
  });
  if (step.kind === 'open') return openChange(place, form, token, toPush);
  return previewChange(place, form, change, toPush, step.kind);
}

function lastOption(step: Step): string[] {
  if (step.kind !== 'open') return ['preview'];
  return step.delay === '' ? [] : [`delay=${step.delay}`];
}

type Texts = { readonly title?: string; readonly description?: string };

/**
 * Selects the texts that an open pull request gets from push options, because its commit has
 * others; null for a new pull request, which takes them from its commit.
 */
function optionTexts({ text }: ChangeSource, { title, description }: ChangeFields): Texts | null {
  if (text === null) return null;
  return {
    ...(text.title !== title && { title }),
    ...(text.description !== description && { description }),
  };
}

function refuseTexts(
  { c, target }: RequestedForm,
  { title, description, pr_key }: ChangeFields,
  texts: Texts | null,
): Refused | null {
  // The push would refuse it, too, but in words for people who push.
  if (texts !== null && Object.keys(texts).length > 0 && pr_key === '') return NO_KEY;
  const shown = Object.entries(texts ?? { title, description });
  const read = Object.fromEntries(shown.map(([name, words]) => [name, readMarkdown(words)]));
  const noise = noiseProblem(read, { hostUrl: c.var.host.url, repository: target });
  return noise === null ? null : problem(400, sentence(noise));
}

function pushOf(
  { c }: RequestedForm,
  { title, description, own_name }: ChangeFields,
  { source, files }: PreparedChange,
  how: { readonly token: FormToken; readonly options: readonly string[] },
): FormPush {
  const { tip, pack } = buildChange({
    files,
    parent: source.parent,
    message: `${title}\n${description === '' ? '' : `\n${description}\n`}`,
    // The form's own time makes the same form give the same commit.
    committedAt: Math.floor(how.token.madeAt / 1000),
    identity: typedIdentity(own_name, c.var.config.anonEmail),
  });
  return { refName: `refs/for/${source.base}`, tip, pack, pushOptions: how.options };
}

async function previewChange(
  place: RequestedForm,
  form: ChangeForm,
  { source, files }: PreparedChange,
  toPush: FormPush,
  kind: 'preview' | 'search',
): Promise<Response | Refused> {
  const { outcome, notes, same } = await push(place, toPush);
  const refusal = outcomeRefusal(outcome);
  const { preview } = refusal;
  if (preview === null) return formRefusal(refusal);
  if (preview.refusal !== null)
    return problem(400, [sentence(preview.refusal), ...preview.remarks, NAMED].join('\n'));
  const { title, description, seen, own_name } = form.fields;
  if (kind === 'search') {
    const further = notes.filter((note) => !form.warnings.includes(note));
    const searched = searchResult(own_name, [...further, ...preview.remarks]);
    return answerForm(place.c, changeFormPage({ ...form, searched }));
  }
  const before = files.map(({ original }) => contentText(original)).join('\n');
  const after = [...files.map(({ content }) => contentText(content)), title, description].join('\n');
  const told = [...notes, ...preview.remarks].map((line) => (line === NOBODY_SEARCHED ? NO_NAME : line));
  const page = changePreviewPage(form, {
    ...preview,
    title: preview.title ?? title,
    body: preview.body ?? description,
    base: source.base,
    remarks: [...told, ...newUnseen(before, after)],
    addresses: newAddresses(before, after),
    files: previewedFiles(files),
    isDelayed: place.c.var.config.publishDelayMs > 0,
    hasMoved: seen !== '' && seen !== source.tip,
    same,
  });
  return answerForm(place.c, page);
}

/** Says what the search has found, in the words of a form. */
function searchResult(ownName: string, remarks: readonly string[]): string[] {
  if (!remarks.includes(NO_NAME_FOUND)) return [...remarks];
  const others = remarks.filter((line) => line !== NO_NAME_FOUND && !line.startsWith(SEARCHED_FOR));
  return [`Searched for “${ownName}”: not found.`, ...others];
}

async function openChange(
  place: RequestedForm,
  { fields }: ChangeForm,
  token: FormToken,
  toPush: FormPush,
): Promise<Response | Refused> {
  const { prHash, delayedName } = await namesOf(place, token, fields);
  const names = { newPrHash: () => prHash, newDelayedName: () => delayedName };
  for (let attempt = 1; ; attempt++) {
    const { outcome, notes, same } = await push(place, toPush, names);
    if (outcome.kind === 'published')
      return showOpened(place, fileLeft(fields), { ...outcome.facts, notes, same });
    if (outcome.kind === 'delayed') {
      const { reason, window, pageUrl } = outcome.facts;
      const waits = `${delayedSentence(reason, window)} Nothing of it is public yet.`;
      if (pageUrl === null) return problem(409, `${WAITS_ALREADY} ${waits}`);
      return answerForm(place.c, changeDelayedPage(place, waits, pageUrl));
    }
    const refusal = outcomeRefusal(outcome);
    if (refusal.code === 'double' && same !== null) {
      const isOpen = `The same change is open already as ${same.url}.`;
      return problem(409, `${isOpen} This service opens no second pull request for it.`);
    }
    // The first of two equal forms may have got as far as its branch, and not to its pull request.
    const isNew = fields.pr_hash === '';
    const isSecond = refusal.code === 'in-progress' || (refusal.code === 'overtaken' && isNew);
    if (!isSecond || attempt === ATTEMPTS) return formRefusal(refusal);
    await systemClock.sleep(PAUSE_MS);
    const opened = await openedBefore(place, fields, token);
    if (opened !== null) return opened;
  }
}

/**
 * Gives the answer of a form that has opened its pull request already; null if it has not. Most
 * have not, and then no object is asked.
 */
async function openedBefore(
  place: RequestedForm,
  fields: ChangeFields,
  token: FormToken,
): Promise<Response | null> {
  const { c } = place;
  if (fields.pr_hash !== '') return null;
  const { prHash } = await namesOf(place, token, fields);
  const mayBeOpen = await mayBeRecorded(c.env.DB, prHash, c.var.logger);
  const known = mayBeOpen ? await pullRequestOf(c.env, prHash).view() : null;
  if (known === null) return null;
  const { url: prUrl, state } = known;
  if (state !== 'open') {
    // The form is shown with a new token, which makes it another one.
    const explanation = `With this form, you have opened ${prUrl}, which is ${state} now. If you send the form again, it opens another pull request.`;
    return showAgain(c, await changeForm(place, fields), problem(409, explanation));
  }
  const key = prKeyOf(await serviceSecret(c.env, c.var.config.identitySecret), prHash);
  const facts = { updated: false, prUrl, prHash, key, notes: [], same: null };
  return showOpened(place, fileLeft(fields), facts);
}

/** Gives the file at which somebody may go on: there is no page for one that is gone. */
const fileLeft = ({ path, removed }: ChangeFields): string => (removed === '' ? path : '');

/** Makes the names of what a form opens or delays, which nobody else can know. */
async function namesOf({ c }: RequestedForm, token: FormToken, fields: ChangeFields) {
  const { path, text, removed, others, title, description, sign_off, ai, issue, pr_hash } = fields;
  // Forms of an earlier version have neither of the last two.
  const more = [removed, others].filter((value) => value !== '');
  const stated = [...(sign_off === '' ? [] : ['sign-off']), ai, issue, pr_hash, ...more];
  const secrets = await secretsOf(c, token, [path, text, title, description, ...stated]);
  const hash = secrets('hash').slice(0, 12);
  // The hash needs a letter, as in newPrHash.
  const prHash = /[a-f]/.test(hash) ? hash : `a${hash.slice(1)}`;
  return { prHash, delayedName: secrets('delayed').slice(0, 32) };
}
