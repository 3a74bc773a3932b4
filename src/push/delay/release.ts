/**
 * Publishes a delayed push, for the scheduler and "Publish now" alone. What the repository and its
 * rules say is judged now, in the order of a live push (judge/judge.ts).
 * Proved by test/push/delay/failure.test.ts and test/e2e/delayed/delayed-changes.test.ts.
 */
import type { DelayFailure } from '../../durable/delayed-pushes/delayed-push.ts';
import { datesOf, undatedOf } from '../../durable/pull-request/record.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Commit } from '../../git/objects/commit.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { linesOf } from '../../words/finding.ts';
import { HostError, hostFailureOf } from '../../words/host-error.ts';
import { fullName } from '../../words/repository-name.ts';
import { askPlace, bornUpstream, findBase, UNKNOWN_HASH } from '../judge/destination.ts';
import { Findings, refusalOf } from '../judge/findings.ts';
import { branchesHolding } from '../judge/what-it-is.ts';
import {
  gitQuestions,
  lookUpPlace,
  lookUpUpstream,
  placeQuestions,
  replaceableTip,
} from '../judge/questions.ts';
import { workflows } from '../judge/rules/changes.ts';
import { isUnrelated, unrelated } from '../judge/work.ts';
import { overtaken } from '../publish/delivery.ts';
import { enter, type Publication, type Published, publish } from '../publish/publish.ts';
import { missingKey, type PushRun } from '../push-run.ts';
import type { StoredEntries } from '../receive/receive.ts';
import { isMomentary, Refusal, type RefusalCode, toRefusal } from '../reply/refusal.ts';
import { allLines } from '../reply/review.ts';
import { isUpdate } from '../verdict.ts';
import { DelayedAttempt, type ReleasedRow } from './delayed-attempt.ts';
import type { KeptPush } from './kept-push.ts';

/**
 * Refusals that may be over soon: another push came first, the repository's rules do not arrive, or
 * an object restarted or is silent.
 */
const MOMENTARY_CODES: ReadonlySet<RefusalCode> = new Set([
  'in-progress',
  'policy-unread',
  'unguarded',
  'internal',
]);

/** The shortest pause after a failure that concerns all pushes. */
const FULL_MS = 60_000;
/** Failures after which a host is believed that says that something is missing. */
const MOST_MISSING = 6;

interface Releasing extends Pick<Publication, 'slot'>, ReleasedRow {
  readonly spool: StoredEntries;
}

/**
 * Judges it again, and publishes it.
 * @throws Refusal, HostError `busy`
 */
export async function release(
  run: PushRun,
  { work, pushHash, recordedTip, wasOpen }: KeptPush,
  { slot, spool, ...row }: Releasing,
): Promise<Published> {
  const { host, settings, target } = run;
  const listed = work.prHash === null ? null : await run.claims.claimListed(work.prHash);
  const [upstream, looked, botLogin] = await Promise.all([
    lookUpUpstream(run),
    lookUpPlace(run),
    run.steps.run('lookup', () => host.botLogin()),
  ]);
  const { repository, policy } = looked;
  const place = { ...looked, ask: placeQuestions(run, { repository }, botLogin) };
  const opened = row.intent && (await place.ask.findPullRequest(row.intent.prHash, null));
  // What an earlier attempt has opened is published, whatever has become of it and of the place
  // since.
  const asOpened = { ...work, repository, footer: '', policyLimits: [], named: null };
  const findings = new Findings();
  const again = async (): ReturnType<typeof judgeAgain> =>
    judgeAgain().catch((error: unknown) => Promise.reject(findings.endedBy(error, 'git')));
  const judged = opened === null ? await again() : { claim: null, push: asOpened };
  const spent = judged.push.named === null ? slot : null;
  const publication = { ...judged, compared: null, spool, pushHash, slot: spent };
  const attempt = new DelayedAttempt(run, publication, row);
  return publish(run, { ...(await enter(run, publication)), attempt });

  async function judgeAgain(): Promise<Pick<Publication, 'push' | 'claim'>> {
    const branch = work.base.name.slice('refs/heads/'.length);
    const born = bornUpstream(upstream, branch);
    const how = { mayOpen: !wasOpen, mustBeOpen: wasOpen };
    const { open, ...asked } = await askPlace(place, settings, work, listed, how, findings);
    // In place of one that is closed, another opens under a hash of its own: by that it is found
    // later, or removed.
    const { named: found, claim } = isUpdate(asked) ? asked : { named: null, claim: null };
    if (found !== null && settings.prUpdatePolicy === 'key' && !work.hasKey) throw missingKey('update');
    const current = found === null || work.isBaseNamed ? null : found.pullRequest.base;
    const base = (await findBase(place, born, current)) ?? (await findBase(place, born, branch));
    if (base === null)
      throw new Refusal('base', 'there is no such base branch', [
        `${fullName(repository)} has no branch "${branch}" any more. Fetch, and push again.`,
      ]);
    const git = gitQuestions(run, { ...upstream, repository });
    const history = git.history([base, born.defaultBranch]);
    await history.reachBack();
    for (const oid of work.boundary) {
      while (!history.isKnown(oid))
        if (!(await history.reachBack()))
          throw new Refusal('fetch-first', 'upstream has changed', [
            `${fullName(target)} no longer has the commits that your work is based on.`,
            'Run "git fetch", rebase your work, then push again.',
          ]);
    }
    const boundary = new Set(work.boundary);
    const where = { base, defaultBranch: born.defaultBranch, isQuiet: false };
    if (await isUnrelated(boundary, history, where, git.isApart))
      throw unrelated(base, settings.remoteUrl(target), work.boundary[0]);
    const recorded = claim?.recorded?.tip ?? null;
    if (found !== null && recorded !== recordedTip && !(await standsOn(recorded))) throw overtaken();
    const isHarmless = (oid: Oid, commit?: Commit): boolean =>
      oid === recorded || history.isKnown(oid) || (commit !== undefined && hasSame(commit));
    const overwrite = `git push -o pr-hash=${work.prHash} -o overwrite ${settings.remoteUrl(target)} HEAD:refs/heads/my-change`;
    const named = found && { ...found, tip: await replaceableTip(run, found, isHarmless, overwrite) };
    if (policy?.refusesWorkflows) {
      const compared = { isAll: false, isRequired: true };
      const changed = await place.ask.entriesChanged({ ...work, base }, spool, compared);
      await findings.run(() => workflows(changed, repository, policy));
    }
    const refusal = refusalOf(findings.all);
    if (refusal !== null) throw refusal;
    // Its page says then that nobody knows the hash, so a new pull request opens.
    run.notes.push(...linesOf(findings.all.filter(({ code }) => code === UNKNOWN_HASH)));
    const held = branchesHolding(history, boundary, base, born.defaultBranch);
    return { claim, push: { ...work, ...open, base, named, upstream: held } };

    /**
     * Whether the push has a commit with the same files and message, whatever its id, author and
     * date.
     */
    function hasSame({ tree, message }: Commit): boolean {
      for (const own of work.commits)
        if (own.tree === tree && Buffer.compare(own.message.bytes, message) === 0) return true;
      return false;
    }

    /** Whether the push has this commit, by the dates that were given to its commits. */
    async function standsOn(oid: Oid | null): Promise<boolean> {
      const identity = { name: botLogin, email: settings.anonEmail };
      const { dateOf } = datesOf(undatedOf(work.commits, identity), claim?.dates ?? [], 0);
      const { signingKey } = settings;
      if (oid === null) return false;
      return (await AnonymousCommits.make(work.commits, identity, dateOf, signingKey, host.memory)).has(oid);
    }
  }
}

/** The meaning of a failure for the push, and whether the next ones would fail as well. */
export interface DelayedEnd {
  readonly failure: DelayFailure;
  readonly isForAll: boolean;
}

/**
 * Decides what a failure means.
 * @param failures how often the push has failed before
 */
export function failureOf(error: unknown, failures: number): DelayedEnd {
  const refusal = toRefusal(error, 'git');
  const { reason, code, outcome } = refusal;
  const lines = allLines(refusal);
  // What concerns the account, such as its suspension, ends no push.
  const { cause } = refusal;
  const { whose, retryAfterMs, status } = hostFailureOf(cause);
  const isForAll = code === 'account' || code === 'busy' || whose === 'ours';
  const isMoment = isMomentary(refusal) || outcome !== null || MOMENTARY_CODES.has(code);
  const isMissing = status === 404 || (cause instanceof HostError && cause.code === 'missing');
  const isDoubted = isMissing && failures < MOST_MISSING;
  if (!isForAll && !isMoment && !isDoubted) {
    // A pack may name bases that upstream has lost since, which only the host notices.
    const advice = code === 'push' ? ['If upstream has changed meanwhile: fetch, and push again.'] : [];
    return { failure: { kind: 'final', said: [reason, ...lines, ...advice] }, isForAll: false };
  }
  // The service itself tries again.
  const said = [reason, ...lines.filter((line) => !/\bpush\b/i.test(line))];
  const hostAskedMs = retryAfterMs ?? 0;
  const askedMs = Math.max(refusal.waitMs ?? 0, hostAskedMs, isForAll ? FULL_MS : 0);
  // A failure that this push did not cause does not make its pauses longer.
  return {
    failure: { kind: 'later', said, askedMs, counts: !isForAll },
    isForAll: isForAll || hostAskedMs > 0,
  };
}
