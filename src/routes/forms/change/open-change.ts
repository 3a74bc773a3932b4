/**
 * What a form asks for goes the way of every push: admission, limits, policy, names, fork, pull request. Only the client
 * is missing, so what it would be told is gathered.
 *
 * The form's token decides the hash of its pull request, together with what was typed. So a form that is sent twice, by a
 * double click or from the browser's history, finds the pull request that it has opened; and one that was corrected in
 * between is not taken for it.
 */
import type { Context } from 'hono';
import type { BuiltChange } from '../../../edit/build-change.ts';
import type { AppEnv } from '../../../env.ts';
import { type Oid, ZERO_OID } from '../../../git/objects/oid.ts';
import { ByteReader, sourceOf } from '../../../git/wire/byte-reader.ts';
import type { PushRequest } from '../../../git/wire/push-request.ts';
import { systemClock } from '../../../isolate/clock.ts';
import { isolate } from '../../../metrics/isolate.ts';
import { pullRequestTopic } from '../../../notify/ntfy.ts';
import { pullRequestOf } from '../../../objects.ts';
import type { ChangeFields, ChangeForm } from '../../../pages/forms/change-pages.ts';
import { changeLink } from '../../../pages/forms/folder-page.ts';
import {
  changeDelayedPage,
  changeDonePage,
  withdrawnPage,
  withdrawPage,
} from '../../../pages/forms/pull-request-pages.ts';
import { PR_HASH_PATTERN, pullRequestPath } from '../../../pr-hash.ts';
import type { PushHost, PushSettings } from '../../../push/push-host.ts';
import { type DelayedFacts, delayedSentence } from '../../../push/reply/banner.ts';
import { countPush, type Refusal, toRefusal } from '../../../push/reply/refusal.ts';
import { NotedReply, type SameWork } from '../../../push/reply/reply.ts';
import { conclude, end, type Outcome, receive } from '../../../push/session.ts';
import type { RepositoryName } from '../../../repository-name.ts';
import type { FormToken } from '../../../secret/form-token.ts';
import { serviceSecret } from '../../../secret/open-secret.ts';
import { prKeyOf } from '../../../secret/pr-key.ts';
import { mayBeRecorded } from '../../../stats/recorded-hashes.ts';
import { pushRun } from '../../git/git-push.ts';
import { pushHost } from '../../git/push-host.ts';
import { explanationOf, problem, type Refused, retryAfter, sentence } from '../../request/refused.ts';
import { answerForm, frameOf, placeOf, receiveForm, secretsOf, type SentForm } from '../form.ts';
import { changeForm, showAgain } from './change-form.ts';
import { CHANGE_FORM, WITHDRAW_FORM } from '../../request/repository.ts';

/** How long the second of two equal forms waits for the first. */
const ATTEMPTS = 20;
const PAUSE_MS = 3_000;

export interface FormPush {
  /** That `refusePush` has asked. */
  readonly admission: PushHost['admission'];
  readonly change: BuiltChange;
  /** The branch that it is for. */
  readonly base: string;
  readonly pushOptions: readonly string[];
}

interface Pushed {
  readonly outcome: Outcome;
  /** Warnings and the like; and the open pull request that has the change already, if one is known. */
  readonly notes: readonly string[];
  readonly same: SameWork | null;
}

/** Counts an attempt, before anything is read for it. Answers why pushes are refused now, or null. */
export async function refusePush({ admission }: Pick<PushHost, 'admission'>): Promise<Refusal | null> {
  const refusal = await admission.enter(false, undefined, 'delay');
  if (refusal !== null) countPush(refusal, null);
  return refusal;
}

/** @param names what the form decides, and not chance. */
export function pushChange(
  c: Context<AppEnv>,
  target: RepositoryName,
  { admission, change, base, pushOptions }: FormPush,
  names: Partial<Pick<PushSettings, 'newPrHash'>> = {},
): Promise<Pushed> {
  // It has been asked already.
  const host = { ...pushHost(c), admission: { ...admission, enter: async () => null } };
  const command = { oldId: ZERO_OID, newId: change.tip, refName: `refs/for/${base}` };
  return push(c, host, target, { command, pushOptions, pack: change.pack, names });
}

interface Pushable {
  readonly command: { readonly oldId: Oid; readonly newId: Oid; readonly refName: string };
  readonly pushOptions: readonly string[];
  readonly pack: Uint8Array | null;
  readonly names: Partial<Pick<PushSettings, 'newPrHash'>>;
}

/** Continues also if the person leaves, because it may be half done on the host. */
function push(
  c: Context<AppEnv>,
  host: PushHost,
  target: RepositoryName,
  { command, pushOptions, pack, names }: Pushable,
): Promise<Pushed> {
  const body = new ByteReader(pack === null ? sourceOf() : sourceOf(pack));
  const request: PushRequest = { kind: 'push', commandList: [command], capabilities: new Set(), pushOptions };
  const pushed = async (): Promise<Pushed> => {
    const reply = new NotedReply();
    const run = pushRun(c, host, reply, target, names);
    const arrival = await receive(run, request, body);
    const { outcome } = await conclude(run, arrival);
    // A retry is the same form, which finds the pull request by its name.
    await end(run, arrival, true);
    return { outcome, notes: reply.notes, same: reply.same };
  };
  const pushing = isolate.during(pushed());
  c.executionCtx.waitUntil(pushing);
  return pushing;
}

/** Opens the pull request of a form, or updates it. */
export async function openChange(
  c: Context<AppEnv>,
  target: RepositoryName,
  form: ChangeForm,
  token: FormToken,
  change: FormPush,
): Promise<Response> {
  const prHash = await prHashOf(c, token, form);
  for (let attempt = 1; ; attempt++) {
    const { outcome, notes, same } = await pushChange(c, target, change, { newPrHash: () => prHash });
    if (outcome.kind === 'published') return done(c, target, form, { ...outcome.facts, notes, same });
    if (outcome.kind === 'delayed') return delayed(c, target, outcome.facts);
    const refusal = refusalOf(outcome);
    if (refusal.code === 'double' && same !== null) return showAgain(c, form, openAlready(same));
    // The first of two equal forms may be faster by so much that the second sees only its branch.
    const isSecond = refusal.code === 'in-progress' || (refusal.code === 'overtaken' && form.prHash === '');
    if (!isSecond || attempt === ATTEMPTS) return showAgain(c, form, refusedPush(refusal));
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
  const prHash = await prHashOf(c, token, fields);
  const mayBeOpen = await mayBeRecorded(c.env.DB, prHash, c.var.logger);
  const known = mayBeOpen ? await pullRequestOf(c.env, prHash).view() : null;
  if (known === null) return null;
  const { url: prUrl, state } = known;
  if (state !== 'open') {
    const explanation = `With this form, you have opened ${prUrl}, which is ${state} now. If you send the form again, it opens another pull request.`;
    return showAgain(c, await changeForm(c, target, fields), problem(409, explanation));
  }
  const key = prKeyOf(await serviceSecret(c.env, c.var.config.identitySecret), prHash);
  return done(c, target, fields, { updated: false, prUrl, prHash, key, notes: [], same: null });
}

interface Opened extends Pick<Pushed, 'notes' | 'same'> {
  readonly updated: boolean;
  readonly prUrl: string;
  readonly prHash: string;
  readonly key: string | null;
}

function done(
  c: Context<AppEnv>,
  target: RepositoryName,
  { path }: ChangeFields,
  { updated: isUpdate, prUrl, prHash, key, notes: lines, same }: Opened,
): Promise<Response> {
  const place = placeOf(c, target, CHANGE_FORM);
  const page = changeDonePage(place, {
    isUpdate,
    prUrl,
    prHash,
    key,
    lines,
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
): Promise<Response> {
  const standing = found?.url
    ? `You have sent this before, and it was published: ${found.url}`
    : `${delayedSentence(reason, window)}${isBegun ? '' : ' Nothing of it is public yet.'}`;
  return answerForm(c, changeDelayedPage(placeOf(c, target, CHANGE_FORM), standing, pageUrl));
}

/** The hash of the pull request that a form opens: nobody else can know it. */
async function prHashOf(c: Context<AppEnv>, token: FormToken, fields: ChangeFields): Promise<string> {
  const { path, text, title, description, signOff, ai, issue } = fields;
  const stated = [...(signOff ? ['sign-off'] : []), ai, issue];
  const secrets = await secretsOf(c, token, [path, text, title, description, ...stated]);
  const hash = secrets('hash').slice(0, 12);
  // With a letter, as newPrHash has it.
  return /[a-f]/.test(hash) ? hash : `a${hash.slice(1)}`;
}

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
  const hint = lines.some((line) => /\bpush\b/i.test(line))
    ? ['Where this says “push”, send this form again.']
    : [];
  const headers = waitMs === null ? {} : { 'Retry-After': retryAfter(waitMs) };
  return { ...problem(status, [sentence(reason), ...lines, ...hint].join('\n')), headers };
}

/** Of the form of a withdrawal, which is short. */
const MAX_FORM_BYTES = 4 * 1024;
const NO_HASH = problem(400, 'A hash has 8 to 40 hexadecimal characters.');
const NO_KEY = problem(
  400,
  'Give the key of the pull request: it was shown when the pull request was opened.',
);

export async function showWithdrawal(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const prHash = (c.req.query('pr_hash') ?? '').trim().toLowerCase();
  return answerForm(c, withdrawPage({ ...(await frameOf(c, target, WITHDRAW_FORM)), prHash, prKey: '' }));
}

export async function sendWithdrawal(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { action: path } = placeOf(c, target, WITHDRAW_FORM);
  return receiveForm(c, path, MAX_FORM_BYTES, (sent) => answerWithdrawal(c, target, sent));
}

async function answerWithdrawal(
  c: Context<AppEnv>,
  target: RepositoryName,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const value = (name: string): string => (fields.get(name) ?? '').trim().toLowerCase();
  const [prHash, prKey] = [value('pr_hash'), value('pr_key')];
  const form = { ...(await frameOf(c, target, WITHDRAW_FORM)), prHash, prKey };
  const again = (refusal: Refused) => {
    const page = withdrawPage({ ...form, problem: explanationOf(refusal) });
    return answerForm(c, page, refusal.status);
  };
  if (token === null) return again(problem(403, unfit));
  if (!PR_HASH_PATTERN.test(prHash)) return again(NO_HASH);
  if (prKey === '') return again(NO_KEY);
  const command = { oldId: ZERO_OID, newId: ZERO_OID, refName: 'refs/heads/main' };
  const pushOptions = [`pr-hash=${prHash}`, `pr-key=${prKey}`];
  const { outcome } = await push(c, pushHost(c), target, { command, pushOptions, pack: null, names: {} });
  if (outcome.kind === 'withdrawn') return answerForm(c, withdrawnPage(form, outcome.withdrawn));
  return again(refusedPush(refusalOf(outcome)));
}
