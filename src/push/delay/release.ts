/**
 * Publishes a delayed push. Only the scheduler does, and "Publish now" on its page. First comes the half of judging that
 * was left out: what the place says, and what may have changed since: its rules, the branches and commits that the work
 * is based on, the pull request that it updates. What the push is stays as it was judged.
 */
import type { DelayFailure } from '../../durable/delayed-pushes/delayed-push.ts';
import type { PushIntent } from '../../durable/pending-push/pending-push.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import { fullName } from '../../repository-name.ts';
import {
  bornUpstream,
  checkStated,
  findNamed,
  notShown,
  openPlace,
  workflowLines,
} from '../judge/destination.ts';
import { branchesHolding } from '../judge/judge.ts';
import { lookUpPlace, lookUpUpstream, questionsOf, replaceableTip } from '../judge/questions.ts';
import { enter, type Publication, type Published, publish } from '../publish/publish.ts';
import { missingKey } from '../pr-key.ts';
import type { ClaimedUpdate, PushRun } from '../push-run.ts';
import type { StoredEntries } from '../receive/receive.ts';
import { isMomentary, Refusal, type RefusalCode, toRefusal } from '../reply/refusal.ts';
import { datesOf, isUpdate, type NamedPullRequest, type Publishable, undatedOf } from '../verdict/verdict.ts';
import type { KeptPush } from './kept-push.ts';

/**
 * Another push came first, the rules of the repository do not arrive, or the service itself failed: one of its objects was
 * restarted, or does not answer.
 */
const MOMENTARY_CODES: ReadonlySet<RefusalCode> = new Set([
  'in-progress',
  'policy-unread',
  'unguarded',
  'internal',
]);

/** How long to pause all other pushes after a failure that does not say how long. */
const FULL_MS = 60_000;
/** A host may say once that something is not there which is. */
const MOST_MISSING = 6;

export interface Releasing extends Pick<Publication, 'place'> {
  readonly spool: StoredEntries;
  /** What an earlier attempt has decided; null: none has begun. */
  readonly intent: PushIntent | null;
  /** As `Resumed` has it. */
  readonly mayGoOn: () => Promise<void>;
  /** What the first attempt has decided; this one if it is the first. @throws Refusal if the push was ended */
  readonly begin: (proposed: PushIntent) => Promise<PushIntent>;
  /** As `Resumed` has it. */
  readonly keepTo: (intent: PushIntent) => Promise<void>;
}

/** @throws Refusal, HostError `busy` */
export async function release(
  run: PushRun,
  { work, pushHash, recordedTip, wasOpen }: KeptPush,
  { place, spool, intent, mayGoOn, begin, keepTo }: Releasing,
): Promise<Published> {
  const { host, settings, target } = run;
  const claim = work.prHash === null ? null : await run.claims.claimListed(work.prHash);
  const [upstream, says, botLogin] = await Promise.all([
    lookUpUpstream(run),
    lookUpPlace(run),
    run.steps.run('lookup', () => host.botLogin()),
  ]);
  const { repository } = says;
  const born = bornUpstream(upstream, work.base.name.slice('refs/heads/'.length));
  const questions = questionsOf(run, { ...born, repository }, botLogin);
  const open = openPlace(says, settings, work);
  const base = born.refs.find(({ name }) => name === work.base.name) ?? (await unlistedBase());
  const history = questions.history([base, born.defaultBranch]);
  await history.reachBack();
  for (const oid of work.ground) {
    while (!history.isKnown(oid)) if (!(await history.reachBack())) throw rewritten(run);
  }
  const { named: found, claim: claimed } = await findNamed(questions, repository, work, claim, true);
  if (isUpdate({ named: found }) && settings.prUpdatePolicy === 'key' && !work.hasKey)
    throw missingKey('update');
  // One that is opened already may have been merged since, which closes its issue.
  const opened = intent && (await questions.findPullRequest(intent.prHash, null));
  if (opened === null && (!isUpdate({ named: found }) || work.description !== null))
    await checkStated(questions, says, work.stated);
  if (says.policy?.refusesWorkflows) {
    const changed = await questions.entriesChanged({ ...work, base }, spool, {
      isAll: false,
      isRequired: true,
    });
    workflowLines(changed, repository, says.policy);
  }
  const named = found === null ? null : await replaceable(found, claimed);
  if (named === null && wasOpen) throw notOpen(notShown());
  const push: Publishable = {
    ...work,
    ...open,
    base,
    named,
    upstream: branchesHolding(history, new Set(work.ground), base, born.defaultBranch),
  };
  const prHash = settings.newPrHash();
  const publication = {
    push,
    spool,
    pushHash,
    propose: (committedAt: number) => begin({ prHash, committedAt }),
    claim: claimed,
    place: isUpdate(push) ? null : place,
    resumed: { tip: named?.tip ?? null, mayGoOn, keepTo },
  };
  return publish(run, publication, await enter(run, publication));

  async function unlistedBase() {
    const branch = work.base.name.slice('refs/heads/'.length);
    const listed = born.hasAllBranches ? null : await questions.findBranch(branch);
    if (listed !== null) return listed;
    throw new Refusal('base', 'there is no such base branch', [
      `${fullName(repository)} has no branch "${branch}" any more. Fetch, and push again.`,
    ]);
  }

  /** What a maintainer has closed since must not come again by itself. */
  async function replaceable(now: Omit<NamedPullRequest, 'tip'>, held: ClaimedUpdate | null) {
    if (wasOpen && !isUpdate({ named: now })) throw notOpen();
    const recorded = held?.recorded?.tip ?? null;
    if (recorded !== recordedTip && !standsOn(recorded, held)) throw updatedSince();
    const isHarmless = (oid: Oid): boolean => oid === recorded || history.isKnown(oid);
    const overwrite = `git push -o pr-hash=${now.prHash} -o overwrite ${settings.remoteUrl(target)} HEAD:refs/heads/my-change`;
    return { ...now, tip: await replaceableTip(run, now, isHarmless, overwrite) };
  }

  /** Whether the push has this commit, by the dates that were given to its commits. */
  function standsOn(oid: Oid | null, held: ClaimedUpdate | null): boolean {
    const identity = { name: botLogin, email: settings.anonEmail };
    const undated = undatedOf(work.commits, identity);
    const { dateOf } = datesOf(undated, held?.dates ?? [], 0);
    return oid !== null && new AnonymousCommits(work.commits, identity, dateOf).has(oid);
  }
}

function rewritten({ target }: PushRun): Refusal {
  return new Refusal('fetch-first', 'upstream has changed', [
    `${fullName(target)} no longer has the commits that your work is based on.`,
    'Run "git fetch", rebase your work, then push again.',
  ]);
}

/** @param cause set if the host shows none: it may be wrong once. */
function notOpen(cause?: HostError): Refusal {
  return new Refusal(
    'not-open',
    'the pull request is not open any more',
    [
      'It was merged or closed while your change waited. Nothing was changed there.',
      'Push again without pr-hash if you want a new one.',
    ],
    { cause },
  );
}

function updatedSince(): Refusal {
  return new Refusal('overtaken', 'another push has updated this pull request since', [
    'Nothing of this one was published, because it would have replaced the newer commits.',
    'Push again to put your commits on top.',
  ]);
}

/** What a failure means for the push, and whether the next ones would fail as well. */
export interface DelayedEnd {
  readonly failure: DelayFailure;
  readonly isForAll: boolean;
}

/** @param failures how often it has failed before. */
export function failureOf(error: unknown, failures: number): DelayedEnd {
  const refusal = toRefusal(error, 'git');
  const isMomentaryCode = MOMENTARY_CODES.has(refusal.code);
  const isBusy = refusal.code === 'account' || (error instanceof HostError && error.code === 'busy');
  // What concerns the account, such as its suspension, ends no push.
  const { whose, retryAfterMs, status } = hostFailureOf(refusal.cause);
  const isDoubted = status === 404 && failures < MOST_MISSING;
  const isLater =
    isBusy || whose === 'ours' || isMomentary(refusal) || refusal.outcome !== null || isMomentaryCode;
  if (!isLater && !isDoubted)
    return {
      failure: { kind: 'final', said: [refusal.reason, ...refusal.lines, ...adviceOn(refusal)] },
      isForAll: false,
    };
  // The service itself tries again.
  const said = [refusal.reason, ...refusal.lines.filter((line) => !/\bpush\b/i.test(line))];
  const isForAll = isBusy || whose === 'ours';
  const hostAskedMs = retryAfterMs ?? 0;
  const askedMs = Math.max(refusal.waitMs ?? 0, hostAskedMs, isForAll ? FULL_MS : 0);
  // A failure that this push did not cause does not make its pauses longer.
  return {
    failure: { kind: 'later', said, askedMs, counts: !isForAll },
    isForAll: isForAll || hostAskedMs > 0,
  };
}

/** A pack may name bases that upstream has lost since, which only the host notices. */
function adviceOn({ code }: Refusal): string[] {
  return code === 'push' ? ['If upstream has changed meanwhile: fetch, and push again.'] : [];
}
