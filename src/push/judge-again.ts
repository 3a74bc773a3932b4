/**
 * Judges again what may have changed since a push was judged: while its person was asked about
 * warnings, or while it was delayed. What the repository and its rules say is asked in the order of
 * judge/judge.ts; the push itself is the same.
 * Proved by test/e2e/delayed/delayed-changes.test.ts and test/e2e/push/warning-wait.test.ts.
 */
import type { Oid } from '../git/objects/oid.ts';
import { branchName, type Ref } from '../git/wire/ref-advertisement.ts';
import type { UpstreamHistory } from '../upstream/upstream-history.ts';
import type { Finding } from '../words/finding.ts';
import { fullName } from '../words/repository-name.ts';
import { overtaken } from './publish/delivery.ts';
import { type ClaimedUpdate, missingKey, type PushRun } from './push-run.ts';
import { fewInMemory, type StoredEntries } from './receive/receive.ts';
import { Refusal } from './reply/refusal.ts';
import { isUpdate, type NamedPullRequest, type Publishable, type PushedWork } from './verdict.ts';
import { type BornUpstream, bornUpstream, findBase } from './judge/base-branch.ts';
import { askPlace } from './judge/destination.ts';
import { Findings, refusalOf } from './judge/findings.ts';
import {
  GitQuestions,
  lookUpPlace,
  lookUpUpstream,
  type Place,
  PlaceQuestions,
  type Upstream,
} from './judge/questions.ts';
import { workflows } from './judge/rules/changes.ts';
import { replaceableTip } from './judge/updated-branch.ts';
import { branchesHolding } from './judge/what-it-is.ts';
import { commitsNow, isUnrelated, unrelated } from './judge/work.ts';

/** A push as it was judged before. */
export interface JudgedBefore {
  readonly work: PushedWork;
  /**
   * The commit at which the pull request that it names ended, by the service's own record. Null:
   * the service had recorded none.
   */
  readonly recordedTip: Oid | null;
  /** Whether that pull request was open. */
  readonly wasOpen: boolean;
  /** Whether a commit of others may be replaced: the push has it, or its person accepts that. */
  readonly mayReplace: (oid: Oid) => Promise<boolean>;
}

/** How the push treats a pull request that it names. */
export interface Naming {
  /**
   * Whether its hash is used again if it is closed. If not, another one opens under a hash of its
   * own, by which it is found later, or removed.
   */
  readonly reusesHash: boolean;
  /** The command that pushes although others' work would be lost. */
  readonly overwrite: string;
}

/** The state of upstream, and of our own record, at this moment. */
export interface Present {
  /** The claim of the pull request that the push names, if the service has that in its list. */
  readonly listed: ClaimedUpdate | null;
  readonly upstream: Upstream;
  readonly place: Place;
  readonly botLogin: string;
}

export interface JudgedAgain {
  readonly push: Publishable;
  readonly claim: ClaimedUpdate | null;
  /** Whether upstream has a commit, as far as its history was listed. */
  readonly isUpstreams: (oid: Oid) => boolean;
  readonly findings: readonly Finding[];
}

/** @throws Refusal */
export async function lookAgain(run: PushRun, { prHash }: PushedWork): Promise<Present> {
  const { host, claims, steps } = run;
  const listed = prHash === null ? null : await claims.claimListed(prHash);
  const [upstream, looked, botLogin] = await Promise.all([
    lookUpUpstream(run),
    lookUpPlace(run),
    steps.run('lookup', () => host.botLogin()),
  ]);
  const { repository } = looked;
  const place = { ...looked, ask: new PlaceQuestions(run, repository, botLogin) };
  return { listed, upstream: { ...upstream, repository }, place, botLogin };
}

/** @throws Refusal, HostError `busy` */
export async function judgeAgain(
  run: PushRun,
  before: JudgedBefore,
  naming: Naming,
  present: Present,
  spool: StoredEntries,
): Promise<JudgedAgain> {
  const findings = new Findings();
  try {
    const judged = await judgedNow(run, before, naming, present, spool, findings);
    const refusal = refusalOf(findings.all);
    if (refusal !== null) throw refusal;
    return { ...judged, findings: findings.all };
  } catch (error) {
    throw findings.endedBy(error, run.settings.client);
  }
}

async function judgedNow(
  run: PushRun,
  before: JudgedBefore,
  naming: Naming,
  present: Present,
  spool: StoredEntries,
  findings: Findings,
): Promise<Omit<JudgedAgain, 'findings'>> {
  const { work, wasOpen } = before;
  const { upstream, place, listed } = present;
  const { repository, policy } = place;
  const { open, ...asked } = await askPlace(
    place,
    run.settings,
    work,
    listed,
    { mayOpen: !wasOpen, mustBeOpen: wasOpen },
    findings,
  );
  const { named: found, claim } = isUpdate(asked) || naming.reusesHash ? asked : { named: null, claim: null };
  if (found !== null && run.settings.prUpdatePolicy === 'key' && !work.hasKey) throw missingKey('update');
  const born = bornUpstream(upstream, branchName(work.base));
  const current = isUpdate(asked) ? (found?.pullRequest.base ?? null) : null;
  const base = await baseNow(place, born, work, current);
  const git = new GitQuestions(run, upstream);
  const history = git.history([base, born.defaultBranch]);
  await reachBoundary(run, work, history);
  const boundary = new Set(work.boundary);
  const where = { base, defaultBranch: born.defaultBranch, isQuiet: false };
  if (await isUnrelated(boundary, history, where, git))
    throw unrelated(base, run.settings.remoteUrl(run.target), work.boundary[0]);
  const named = found && {
    ...found,
    tip: await tipNow(run, before, naming, { ...present, claim, found, history }),
  };
  if (policy?.refusesWorkflows) {
    const compared = { isAll: false, isRequired: true };
    const entries = await fewInMemory(spool, run.host.memory);
    const changed = await place.ask.entriesChanged({ ...work, base }, entries, compared);
    await findings.run(() => workflows(changed, repository, policy));
  }
  const held = branchesHolding(history, boundary, base, born.defaultBranch);
  const isUpstreams = (oid: Oid) => history.isKnown(oid);
  return { claim, push: { ...work, ...open, base, named, upstream: held }, isUpstreams };
}

/**
 * Finds the base: that of the open pull request, unless the person has named one, or the same as
 * before.
 * @throws Refusal
 */
async function baseNow(
  place: Place,
  born: BornUpstream,
  { base, isBaseNamed }: PushedWork,
  current: string | null,
): Promise<Ref> {
  const found =
    (await findBase(place, born, isBaseNamed ? null : current)) ??
    (await findBase(place, born, branchName(base)));
  if (found !== null) return found;
  throw new Refusal('base', 'there is no such base branch', [
    `${fullName(place.repository)} has no branch "${branchName(base)}" any more. Fetch, and push again.`,
  ]);
}

/**
 * Lists upstream's history as far back as the push stands on it.
 * @throws Refusal if upstream has lost it
 */
async function reachBoundary(
  { target }: PushRun,
  { boundary }: PushedWork,
  history: UpstreamHistory,
): Promise<void> {
  await history.reachBack();
  for (const oid of boundary) {
    while (!history.isKnown(oid))
      if (!(await history.reachBack()))
        throw new Refusal('fetch-first', 'upstream has changed', [
          `${fullName(target)} no longer has the commits that your work is based on.`,
          'Run "git fetch", rebase your work, then push again.',
        ]);
  }
}

interface Found extends Pick<Present, 'botLogin'>, Pick<JudgedAgain, 'claim'> {
  readonly found: Omit<NamedPullRequest, 'tip'>;
  readonly history: UpstreamHistory;
}

/**
 * Where the branch of the named pull request is.
 * @throws Refusal if another push came first, or others' work would be lost
 */
async function tipNow(
  run: PushRun,
  { work, recordedTip, mayReplace }: JudgedBefore,
  { overwrite }: Naming,
  { botLogin, claim, found, history }: Found,
): Promise<Oid | null> {
  const recorded = claim?.recorded?.tip ?? null;
  if (recorded !== recordedTip && !(await standsOn(recorded))) throw overtaken();
  const isHarmless = (oid: Oid) => oid === recorded || history.isKnown(oid) || mayReplace(oid);
  return replaceableTip(run, found, isHarmless, overwrite);

  /** Whether the push has this commit, by the dates that were given to its commits. */
  async function standsOn(oid: Oid | null): Promise<boolean> {
    if (oid === null) return false;
    const { settings, host } = run;
    const bot = { name: botLogin, email: settings.anonEmail };
    return (await commitsNow([work.commits, bot, claim, 0], settings.signingKey, host.memory)).has(oid);
  }
}
