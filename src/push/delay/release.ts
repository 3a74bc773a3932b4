/**
 * Publishes a delayed push, for the scheduler and "Publish now" alone. What the repository and its
 * rules say is judged now (judge-again.ts).
 * Proved by test/push/delay/failure.test.ts and test/e2e/delayed/delayed-changes.test.ts.
 */
import type { DelayFailure } from '../../durable/delayed-pushes/delayed-push.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { CommitChanges } from '../../text/commit-changes.ts';
import { linesOf } from '../../words/finding.ts';
import { HostError, hostFailureOf } from '../../words/host-error.ts';
import { UNKNOWN_HASH } from '../judge/destination.ts';
import { judgeAgain, type JudgedAgain, lookAgain, type Present } from '../judge-again.ts';
import { enter, type Publication, type Published, publish } from '../publish/publish.ts';
import type { PushRun } from '../push-run.ts';
import type { StoredEntries } from '../receive/receive.ts';
import { pushCommand } from '../reply/commands.ts';
import { isMomentary, type RefusalCode, toRefusal } from '../reply/refusal.ts';
import { allLines } from '../reply/review.ts';
import { isUpdate } from '../verdict.ts';
import { DelayedAttempt, type ReleasedRow } from './delayed-attempt.ts';
import { othersHash } from './keep.ts';
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
/**
 * Failures after which a host is believed that says that something is missing: by their pauses,
 * after 85 minutes, as a repository may be private for a while.
 */
const MOST_MISSING = 10;

interface Releasing extends Pick<Publication, 'slot'>, ReleasedRow {
  readonly spool: StoredEntries;
}

/**
 * Judges it again, and publishes it.
 * @throws Refusal, HostError `busy`
 */
export async function release(
  run: PushRun,
  kept: KeptPush,
  { slot, spool, ...row }: Releasing,
): Promise<Published> {
  const { work, pushHash } = kept;
  const present = await lookAgain(run, work);
  const { repository, ask } = present.place;
  const opened = row.intent && (await ask.findPullRequest(row.intent.prHash, null));
  // What an earlier attempt has opened is published, whatever has become of it and of the place
  // since.
  const asOpened = { ...work, repository, footer: '', policyLimits: [], named: null };
  const remoteUrl = run.settings.remoteUrl(run.target);
  const to = { remoteUrl, refName: 'refs/heads/my-change', door: 'git' } as const;
  const overwrite = pushCommand([`pr-hash=${work.prHash}`, 'overwrite'], to);
  const naming = { reusesHash: false, overwrite };
  const mayReplace = async (oid: Oid) => kept.others.includes(await othersHash(run, pushHash, oid));
  const again =
    opened === null ? await judgeAgain(run, { ...kept, mayReplace }, naming, present, spool) : null;
  const { claim, push, findings } = again ?? { claim: null, push: asOpened, findings: [] };
  // Its page says then that nobody knows the hash, so a new pull request opens.
  run.notes.push(...linesOf(findings.filter(({ code }) => code === UNKNOWN_HASH)));
  const changes = async (leaving: AnonymousCommits) => again && changesOf(present, again, leaving);
  const spent = push.named === null ? slot : null;
  const publication = { claim, push, changes, compared: null, spool, pushHash, slot: spent };
  const attempt = new DelayedAttempt(run, publication, row);
  return publish(run, { ...(await enter(run, publication)), attempt });
}

/** Finds what an update changes, for its page; null: nobody knows, or it is no update. */
async function changesOf(
  { place }: Present,
  { push, isUpstreams }: JudgedAgain,
  leaving: AnonymousCommits,
): Promise<CommitChanges | null> {
  const { named, commits } = push;
  if (named === null || !isUpdate(push)) return null;
  return place.ask.updatedCommits(named, commits, leaving, isUpstreams);
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
  // What concerns the account or the App, such as a suspension of the account, ends no push.
  const { cause } = refusal;
  const { whose, retryAfterMs, status, isLocal } = hostFailureOf(cause);
  const isForAll = code === 'account' || code === 'busy' || whose === 'ours';
  const isMoment = isMomentary(refusal) || outcome !== null || MOMENTARY_CODES.has(code);
  const isMissing = status === 404 || (cause instanceof HostError && cause.code === 'missing');
  const isDoubted = isMissing && failures < MOST_MISSING;
  if (!isForAll && !isMoment && !isDoubted && isLocal !== true) {
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
    isForAll: isForAll || (hostAskedMs > 0 && isLocal !== true),
  };
}
