/**
 * Pushes what a form asks for, in the way of every push, and gathers for a page what a Git client
 * would be told.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../../env.ts';
import { type Oid, ZERO_OID } from '../../../git/objects/oid.ts';
import { ByteReader, sourceOf } from '../../../git/wire/byte-reader.ts';
import type { PushRequest } from '../../../git/wire/push-request.ts';
import { isolate } from '../../../metrics/isolate.ts';
import { withdrawnPage, withdrawPage } from '../../../pages/forms/change-pages.ts';
import { STATED_LABELS } from '../../../pages/forms/pull-request-fields.ts';
import { PR_HASH_PATTERN } from '../../../words/pr-hash.ts';
import { PUBLISH_ANYWAY } from '../../../leaks/findings.ts';
import { REPEATED, RETRIED } from '../../../push/judge/rules/doubles.ts';
import { pushOutcome, type Refusal, toRefusal } from '../../../push/reply/refusal.ts';
import { NotedReply } from '../../../push/reply/reply.ts';
import { allLines } from '../../../push/reply/review.ts';
import { conclude, end, type Outcome, receive } from '../../../push/session.ts';
import { openPush, type PushOpening } from '../../../service/open-push.ts';
import { ClientPushLimits } from '../../../service/push-limits.ts';
import { countPush } from '../../../service/push-store.ts';
import { explanationOf, problem, type Refused, retryAfter } from '../../request/refused.ts';
import { sentence } from '../../../words/sentence.ts';
import { answerForm, frameOf, type RequestedForm, type SentForm } from '../form.ts';
import { hostScopeOf } from '../../request/scope.ts';

export interface FormPush {
  readonly refName: string;
  readonly tip: Oid;
  /** The pack, for which `refusePush` must have been asked; null if the push needs none. */
  readonly pack: Uint8Array | null;
  readonly pushOptions: readonly string[];
}

/** The outcome, with remarks (`notes`) and the open pull request that has the change already. */
type Pushed = Pick<NotedReply, 'notes' | 'same'> & { readonly outcome: Outcome };

/** Counts an attempt before anything is read for it. Gives why pushes are refused now, or null. */
export async function refusePush(c: Context<AppEnv>): Promise<Refusal | null> {
  const refusal = await new ClientPushLimits(hostScopeOf(c)).enter(false, false, 'delay');
  if (refusal !== null) countPush(refusal, null);
  return refusal;
}

/**
 * Pushes, and goes on if the person leaves, because the push may be half done.
 * @param names names that the form decides, and not chance.
 */
export function push(
  { c, target }: RequestedForm,
  { refName, tip, pack, pushOptions }: FormPush,
  names: Pick<PushOpening, 'newPrHash'> = {},
): Promise<Pushed> {
  const scope = hostScopeOf(c);
  const opening = { ...names, limits: new ClientPushLimits(scope, pack !== null) };
  const body = new ByteReader(pack === null ? sourceOf() : sourceOf(pack));
  const commandList = [{ oldId: ZERO_OID, newId: tip, refName }];
  const request: PushRequest = { kind: 'push', commandList, capabilities: new Set(), pushOptions };
  const pushed = async (): Promise<Pushed> => {
    const reply = new NotedReply();
    const run = openPush(scope, target, reply, opening);
    const arrival = await receive(run, request, body);
    const { outcome } = await conclude(run, arrival);
    // A retry is the same form, which finds the pull request by its name.
    await end(run, arrival, true);
    return { outcome, notes: inFormWords(reply.notes), same: reply.same };
  };
  const pushing = isolate.during(pushed());
  c.executionCtx.waitUntil(pushing);
  return pushing;
}

export function outcomeRefusal(outcome: Outcome): Refusal {
  if (outcome.kind === 'refused') return outcome.refusal;
  return toRefusal(new Error(`the push is ${outcome.kind}`), 'git');
}

/** Statuses by the outcome with which a push is counted. Default: 400. */
const STATUS_OF: Record<string, 429 | 502 | 503> = { suspended: 503, 'rate-limited': 429, failed: 502 };
const SEND_AGAIN = 'Where this says “push”, send this form again.';

/**
 * Push options in the words of refusals and remarks, and the fields of the form in their place. The
 * page itself tells of what is open already.
 */
const FIELDS: readonly (readonly [option: string | RegExp, field: string])[] = [
  [/^Warning: this would be a SECOND pull request\. .*/, ''],
  [REPEATED, ''],
  [RETRIED, ''],
  [/^ {2}(?:git push|curl) .*/, ''],
  [/, and push with: -o base=<branch>$/, ' and under “Branch”.'],
  [/, add: -o base=<branch>$/, ', fill in “Branch”.'],
  ['with -o base=<branch>', 'under “Branch”'],
  [/: -o title=<title>$/, ' under “Title”.'],
  [': -o title="fix: …"', ' under “Title”: “fix: …”'],
  [/: -o description=<line>, once for each line\.$/, ' under “Description”.'],
  [
    /^Title and description come .* push again with$/,
    'Title and description come from the message of the newest commit. To replace them, fill in',
  ],
  ['-o title=... or -o description=...', '“Title” or “Description”.'],
  ['add -o pr-key=<key>', 'fill in “Key of the pull request”'],
  ['-o delay=0s', '“now” under “When it becomes public”'],
  ['-o ai=none, -o ai=assisted or -o ai=generated', `“${STATED_LABELS.ai}”`],
  ['-o issue=<number of an open issue>', `“${STATED_LABELS.issue}”`],
  ['-o sign-off', 'tick “I affirm the Developer Certificate of Origin 1.1”'],
  [/Add -o wait, .*/, 'Or choose a later time under “When it becomes public”.'],
  [/^To publish the messages without .* -o strip-trails$/, ''],
  [/^Remove the line and push again: .*/, 'Remove the line, and send this form again.'],
  [PUBLISH_ANYWAY, 'It can be published anyway with Git alone.'],
];

/** Advice for clones, in the line after it. */
const ADVICE_PATTERN =
  /^(?:To (?:update that one|leave out what is merged|withdraw the pull request)|Or replace them with yours):$/;

export function inFormWords(lines: readonly string[]): string[] {
  return lines
    .filter((line, at) => ![line, lines[at - 1] ?? ''].some((one) => ADVICE_PATTERN.test(one)))
    .map((line) => FIELDS.reduce((text, names) => text.replace(...names), line))
    .filter((line) => line !== '');
}

/** Turns a refusal, whose words are for people who push, into one for the form. */
export function formRefusal(refusal: Refusal): Refused {
  const { reason, waitMs } = refusal;
  const lines = inFormWords(allLines(refusal));
  const status = STATUS_OF[pushOutcome(refusal)] ?? 400;
  const hint = lines.some((line) => /\bpush\b/i.test(line)) ? [SEND_AGAIN] : [];
  const headers = waitMs === null ? {} : { 'Retry-After': retryAfter(waitMs) };
  return { ...problem(status, [sentence(reason), ...lines, ...hint].join('\n')), headers };
}

const NO_HASH = problem(400, 'A hash has 8 to 40 hexadecimal characters.');
const GIVE_KEY = 'Give the key of the pull request: it was shown when the pull request was opened.';
const NO_KEY = problem(400, GIVE_KEY);

export async function showWithdrawal(place: RequestedForm): Promise<Response> {
  const pr_hash = (place.c.req.query('pr_hash') ?? '').trim().toLowerCase();
  return answerForm(place.c, withdrawPage(await frameOf(place), { pr_hash, pr_key: '' }));
}

export async function answerWithdrawal(
  place: RequestedForm,
  { fields, token, problem: unfit }: SentForm,
): Promise<Response> {
  const value = (name: string): string => (fields.get(name) ?? '').trim().toLowerCase();
  const typed = { pr_hash: value('pr_hash'), pr_key: value('pr_key') };
  const again = async (refusal: Refused) => {
    const form = { ...(await frameOf(place)), problem: explanationOf(refusal) };
    return answerForm(place.c, withdrawPage(form, typed), refusal.status);
  };
  if (token === null) return again(problem(403, unfit));
  if (!PR_HASH_PATTERN.test(typed.pr_hash)) return again(NO_HASH);
  if (typed.pr_key === '') return again(NO_KEY);
  const pushOptions = [`pr-hash=${typed.pr_hash}`, `pr-key=${typed.pr_key}`];
  const { outcome } = await push(place, {
    refName: 'refs/heads/main',
    tip: ZERO_OID,
    pack: null,
    pushOptions,
  });
  if (outcome.kind === 'withdrawn')
    return answerForm(place.c, withdrawnPage(place, typed.pr_hash, outcome.withdrawn));
  return again(formRefusal(outcomeRefusal(outcome)));
}
