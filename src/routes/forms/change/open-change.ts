/**
 * What a form asks for goes the way of every push. Only the client is missing, so what it would be told is gathered. The
 * form's token and what was typed decide the hash of its pull request. So a form that is sent twice finds the one that
 * it has opened, and one that was corrected in between is not taken for it.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import { type Oid, ZERO_OID } from '../../../git/objects/oid.ts';
import { ByteReader, sourceOf } from '../../../git/wire/byte-reader.ts';
import type { PushRequest } from '../../../git/wire/push-request.ts';
import { systemClock } from '../../../isolate/clock.ts';
import { isolate } from '../../../metrics/isolate.ts';
import { pullRequestTopic } from '../../../notify/ntfy.ts';
import { pullRequestOf } from '../../../objects.ts';
import {
  changeDelayedPage,
  changeDonePage,
  type ChangeFields,
  type ChangeForm,
  type OpenedChange,
  withdrawnPage,
  withdrawPage,
} from '../../../pages/forms/change-pages.ts';
import { PR_HASH_PATTERN } from '../../../pr-hash.ts';
import { type DelayedFacts, delayedSentence } from '../../../push/reply/banner.ts';
import { pushOutcome, type Refusal, toRefusal } from '../../../push/reply/refusal.ts';
import { NotedReply } from '../../../push/reply/reply.ts';
import { conclude, end, type Outcome, receive } from '../../../push/session.ts';
import type { FormToken } from '../../../secret/form-token.ts';
import { serviceSecret } from '../../../secret/open-secret.ts';
import { prKeyOf } from '../../../secret/keyed-hash.ts';
import { mayBeRecorded } from '../../../stats/recorded-hashes.ts';
import { openPush, type PushOpening } from '../../git/open-push.ts';
import { pushLimits } from '../../git/push-limits.ts';
import { countPush } from '../../git/push-store.ts';
import { explanationOf, problem, type Refused, retryAfter, sentence } from '../../request/refused.ts';
import { answerForm, frameOf, type Place, secretsOf, type SentForm } from '../form.ts';
import { changeForm, showAgain } from './change-form.ts';

/** How long the second of two equal forms waits for the first. */
const ATTEMPTS = 20;
const PAUSE_MS = 3_000;

export interface FormPush {
  /** Whether `refusePush` has asked. */
  readonly isAsked: boolean;
  readonly refName: string;
  readonly tip: Oid;
  /** Null: it needs none. */
  readonly pack: Uint8Array | null;
  readonly pushOptions: readonly string[];
}

/** Warnings and the like; and the open pull request that has the change already, if one is known. */
interface Pushed extends Pick<NotedReply, 'notes' | 'same'> {
  readonly outcome: Outcome;
}

/** Counts an attempt, before anything is read for it. Answers why pushes are refused now, or null. */
export async function refusePush(c: Context<AppEnv>): Promise<Refusal | null> {
  const refusal = await pushLimits(c).enter(false, undefined, 'delay');
  if (refusal !== null) countPush(refusal, null);
  return refusal;
}

/** Continues also if the person leaves: it may be half done. @param names what the form decides, and not chance. */
export function push(
  { c, target }: Place,
  { isAsked, refName, tip, pack, pushOptions }: FormPush,
  names: Pick<PushOpening, 'newPrHash'> = {},
): Promise<Pushed> {
  const limits = pushLimits(c);
  const opening = { ...names, limits: isAsked ? { ...limits, enter: async () => null } : limits };
  const body = new ByteReader(pack === null ? sourceOf() : sourceOf(pack));
  const commandList = [{ oldId: ZERO_OID, newId: tip, refName }];
  const request: PushRequest = { kind: 'push', commandList, capabilities: new Set(), pushOptions };
  const pushed = async (): Promise<Pushed> => {
    const reply = new NotedReply();
    const run = openPush(c, target, reply, opening);
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

export async function openChange(
  place: Place,
  form: ChangeForm,
  token: FormToken,
  change: FormPush,
): Promise<Response> {
  const prHash = await prHashOf(place.c, token, form);
  for (let attempt = 1; ; attempt++) {
    const { outcome, notes, same } = await push(place, change, { newPrHash: () => prHash });
    if (outcome.kind === 'published') return done(place, form, { ...outcome.facts, notes, same });
    if (outcome.kind === 'delayed') return delayed(place, outcome.facts);
    const refusal = refusalOf(outcome);
    if (refusal.code === 'double' && same !== null) {
      const explanation = `The same change is open already as ${same.url}. This service opens no second pull request for it.`;
      return showAgain(place.c, form, problem(409, explanation));
    }
    // The first of two equal forms may be faster by so much that the second sees only its branch.
    const isSecond = refusal.code === 'in-progress' || (refusal.code === 'overtaken' && form.prHash === '');
    if (!isSecond || attempt === ATTEMPTS) return showAgain(place.c, form, refusedPush(refusal));
    await systemClock.sleep(PAUSE_MS);
    const opened = await openedBefore(place, form, token);
    if (opened !== null) return opened;
  }
}

/** The answer of a form that has opened its pull request already; null: it has not, as most, which wake no object here. */
export async function openedBefore(
  place: Place,
  fields: ChangeFields,
  token: FormToken,
): Promise<Response | null> {
  const { c } = place;
  if (fields.prHash !== '') return null;
  const prHash = await prHashOf(c, token, fields);
  const mayBeOpen = await mayBeRecorded(c.env.DB, prHash, c.var.logger);
  const known = mayBeOpen ? await pullRequestOf(c.env, prHash).view() : null;
  if (known === null) return null;
  const { url: prUrl, state } = known;
  if (state !== 'open') {
    const explanation = `With this form, you have opened ${prUrl}, which is ${state} now. If you send the form again, it opens another pull request.`;
    return showAgain(c, await changeForm(place, fields), problem(409, explanation));
  }
  const key = prKeyOf(await serviceSecret(c.env, c.var.config.identitySecret), prHash);
  return done(place, fields, { updated: false, prUrl, prHash, key, notes: [], same: null });
}

function done(
  place: Place,
  { path }: ChangeFields,
  opened: Omit<OpenedChange, 'path' | 'topicUrl'>,
): Promise<Response> {
  const topicUrl = `${place.c.var.config.notifyBaseUrl}/${pullRequestTopic(opened.prHash)}`;
  return answerForm(place.c, changeDonePage(place, { ...opened, path, topicUrl }));
}

function delayed(place: Place, { reason, window, isBegun, pageUrl, found }: DelayedFacts): Promise<Response> {
  const standing = found?.url
    ? `You have sent this before, and it was published: ${found.url}`
    : `${delayedSentence(reason, window)}${isBegun ? '' : ' Nothing of it is public yet.'}`;
  return answerForm(place.c, changeDelayedPage(place, standing, pageUrl));
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

export function refusalOf(outcome: Outcome): Refusal {
  return outcome.kind === 'refused'
    ? outcome.refusal
    : toRefusal(new Error(`the push is ${outcome.kind}`), 'git');
}

/** The words of a refusal are for people who push. */
export function refusedPush(refusal: Refusal): Refused {
  const { reason, lines, waitMs } = refusal;
  const outcome = pushOutcome(refusal);
  const failed = outcome === 'failed' ? 502 : 400;
  const status = outcome === 'suspended' ? 503 : outcome === 'rate-limited' ? 429 : failed;
  const hint = lines.some((line) => /\bpush\b/i.test(line))
    ? ['Where this says “push”, send this form again.']
    : [];
  const headers = waitMs === null ? {} : { 'Retry-After': retryAfter(waitMs) };
  return { ...problem(status, [sentence(reason), ...lines, ...hint].join('\n')), headers };
}

const NO_HASH = problem(400, 'A hash has 8 to 40 hexadecimal characters.');
const NO_KEY = problem(
  400,
  'Give the key of the pull request: it was shown when the pull request was opened.',
);

export async function showWithdrawal(place: Place): Promise<Response> {
  const prHash = (place.c.req.query('pr_hash') ?? '').trim().toLowerCase();
  return answerForm(place.c, withdrawPage({ ...(await frameOf(place)), prHash, prKey: '' }));
}

export async function answerWithdrawal(
  place: Place,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const value = (name: string): string => (fields.get(name) ?? '').trim().toLowerCase();
  const [prHash, prKey] = [value('pr_hash'), value('pr_key')];
  const form = { ...(await frameOf(place)), prHash, prKey };
  const again = (refusal: Refused) => {
    const page = withdrawPage({ ...form, problem: explanationOf(refusal) });
    return answerForm(place.c, page, refusal.status);
  };
  if (token === null) return again(problem(403, unfit));
  if (!PR_HASH_PATTERN.test(prHash)) return again(NO_HASH);
  if (prKey === '') return again(NO_KEY);
  const pushOptions = [`pr-hash=${prHash}`, `pr-key=${prKey}`];
  const deletion = { isAsked: false, refName: 'refs/heads/main', tip: ZERO_OID, pack: null, pushOptions };
  const { outcome } = await push(place, deletion);
  if (outcome.kind === 'withdrawn') return answerForm(place.c, withdrawnPage(form, outcome.withdrawn));
  return again(refusedPush(refusalOf(outcome)));
}
