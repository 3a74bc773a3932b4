/**
 * Opens the pull request of a form, or updates it. The form's token decides its hash, together with what was typed. So a form that is sent twice, by a double click or from the browser's history, finds the pull request
 * that it has opened; and one that was corrected in between is not taken for it.
 */
import type { Context } from 'hono';
import { systemClock } from '../../../isolate/clock.ts';
import type { AppEnv } from '../../../env.ts';
import type { FormToken } from '../../../secret/form-token.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import { pullRequestOf } from '../../../objects.ts';
import { pullRequestTopic } from '../../../notify/ntfy.ts';
import type { ChangeFields, ChangeForm } from '../../../pages/forms/change-pages.ts';
import { changeLink } from '../../../pages/forms/folder-page.ts';
import { changeDelayedPage, changeDonePage } from '../../../pages/forms/pull-request-pages.ts';
import { pullRequestPath } from '../../../pr-hash.ts';
import { type DelayedFacts, delayedSentence } from '../../../push/reply/banner.ts';
import { type Refusal, toRefusal } from '../../../push/reply/refusal.ts';
import type { SameWork } from '../../../push/reply/reply.ts';
import type { Outcome } from '../../../push/session.ts';
import { mayBeRecorded } from '../../../stats/recorded-hashes.ts';
import { problem, type Refused, sentence } from '../../request/refused.ts';
import { retryAfter } from '../../request/write-refusal.ts';
import { answerForm, placeOf } from '../form-answer.ts';
import { prKeyOf } from '../../../secret/pr-key.ts';
import { serviceSecret } from '../../../secret/open-secret.ts';
import { secretsOf } from '../form-request.ts';
import { CHANGE_FORM, WITHDRAW_FORM } from '../paths.ts';
import { changeForm, showAgain } from './change-page.ts';
import { type InMemoryPush, type Pushed, pushInMemory } from './push-in-memory.ts';

/** How long the second of two equal forms waits for the first. */
const ATTEMPTS = 20;
const PAUSE_MS = 3_000;

export interface SentForm {
  readonly form: ChangeForm;
  readonly token: FormToken;
  readonly push: Omit<InMemoryPush, 'names'>;
}

export async function openChange(
  c: Context<AppEnv>,
  target: RepositoryName,
  { form, token, push }: SentForm,
): Promise<Response> {
  const names = await namesOf(c, token, form);
  for (let attempt = 1; ; attempt++) {
    const { outcome, notes: lines, same } = await pushInMemory(c, target, { ...push, names });
    if (outcome.kind === 'published') {
      const { updated: isUpdate, prUrl, prHash, key } = outcome.facts;
      return done(c, target, form, { isUpdate, prUrl, prHash, key, lines, same });
    }
    if (outcome.kind === 'delayed') return delayed(c, target, outcome.facts);
    const refusal = refusalOf(outcome);
    if (refusal.code === 'double' && same !== null) return showAgain(c, form, openAlready(same));
    // The first of two equal forms may be faster by so much that the second sees only its branch.
    const isSecond = refusal.code === 'in-progress' || (refusal.code === 'overtaken' && form.prHash === '');
    if (!isSecond || attempt === ATTEMPTS) {
      return showAgain(c, form, refusedPush(refusal));
    }
    await systemClock.sleep(PAUSE_MS);
    const opened = await openedBefore(c, target, form, token);
    if (opened !== null) return opened;
  }
}

/**
 * The answer of a form that has opened its pull request already; null: it has not. Most have not, and wake no object
 * for this.
 */
export async function openedBefore(
  c: Context<AppEnv>,
  target: RepositoryName,
  fields: ChangeFields,
  token: FormToken,
): Promise<Response | null> {
  if (fields.prHash !== '') return null;
  const prHash = (await namesOf(c, token, fields)).newPrHash();
  const mayBeOpen = await mayBeRecorded(c.env.DB, prHash, c.var.logger);
  const known = mayBeOpen ? await pullRequestOf(c.env, prHash).view() : null;
  const key = prKeyOf(await serviceSecret(c.env, c.var.config.identitySecret), prHash);
  if (known === null) return null;
  if (known.state !== 'open') {
    const explanation = `With this form, you have opened ${known.url}, which is ${known.state} now. If you send the form again, it opens another pull request.`;
    return showAgain(c, await changeForm(c, target, fields), problem(409, explanation));
  }
  return done(c, target, fields, { isUpdate: false, prUrl: known.url, prHash, key, lines: [], same: null });
}

interface Opened extends Pick<Pushed, 'same'> {
  readonly isUpdate: boolean;
  readonly prUrl: string;
  readonly prHash: string;
  readonly key: string | null;
  readonly lines: readonly string[];
}

function done(
  c: Context<AppEnv>,
  target: RepositoryName,
  { path }: ChangeFields,
  opened: Opened,
): Response | Promise<Response> {
  const { prHash, same } = opened;
  const place = placeOf(c, target, CHANGE_FORM);
  const page = changeDonePage(place, {
    ...opened,
    same: same && { url: same.url, edit: changeLink(place.action, path, same.prHash) },
    subscribeUrl: `${c.var.config.notifyBaseUrl}/${pullRequestTopic(prHash)}`,
    page: pullRequestPath(prHash),
    edit: changeLink(place.action, path, prHash),
    withdrawal: changeLink(place.home + WITHDRAW_FORM, '', prHash),
  });
  return answerForm(c, page);
}

function delayed(
  c: Context<AppEnv>,
  target: RepositoryName,
  { reason, window, isBegun, pageUrl, found }: DelayedFacts,
): Response | Promise<Response> {
  const place = placeOf(c, target, CHANGE_FORM);
  const standing = found?.url
    ? `You have sent this before, and it was published: ${found.url}`
    : `${delayedSentence(reason, window)}${isBegun ? '' : ' Nothing of it is public yet.'}`;
  return answerForm(c, changeDelayedPage(place, { sentence: standing, page: pageUrl }));
}

/** The hash of the pull request that a form opens: nobody else can know it. */
async function namesOf(c: Context<AppEnv>, token: FormToken, fields: ChangeFields): Promise<Names> {
  const { path, text, title, description, signOff } = fields;
  const signed = signOff ? ['sign-off'] : [];
  const secrets = await secretsOf(c, token, [path, text, title, description, ...signed]);
  const hash = secrets('hash').slice(0, 12);
  return {
    // With a letter, as newPrHash has it.
    newPrHash: () => (/[a-f]/.test(hash) ? hash : `a${hash.slice(1)}`),
  };
}

type Names = Required<InMemoryPush['names']>;

/** Why a form was not carried out. */
export function refusalOf(outcome: Outcome): Refusal {
  return outcome.kind === 'refused'
    ? outcome.refusal
    : toRefusal(new Error(`the push is ${outcome.kind}`), 'git');
}

function openAlready({ url }: SameWork): Refused {
  const explanation = `The same change is open already as ${url}. This service opens no second pull request for it.`;
  return problem(409, explanation);
}

/** The words of a refusal are for people who push. */
export function refusedPush({ reason, lines, outcome, waitMs, cause }: Refusal): Refused {
  const failed = cause === undefined ? 400 : 502;
  const status = outcome === 'suspended' ? 503 : outcome === 'rate-limited' ? 429 : failed;
  const heading = sentence(reason);
  const hint = lines.some((line) => /\bpush\b/i.test(line))
    ? ['Where this says “push”, send this form again.']
    : [];
  const headers = waitMs === null ? {} : { 'Retry-After': retryAfter(waitMs) };
  return { ...problem(status, [heading, ...lines, ...hint].join('\n')), headers };
}
