/**
 * Publishes a held push. It first judges again what may have changed since: the repository, its policy, the branches
 * and commits that the work is based on, the pull request that it updates. The rest of the verdict stays.
 */
import type { HoldFailure } from '../../durable/held-pushes/held-push-record.ts';
import type { RecordedPullRequest } from '../../durable/pull-request/record.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import { fullName } from '../../repository-name.ts';
import { branchesHolding } from '../judge/judge.ts';
import { openUpstream } from '../judge/destination.ts';
import { replaceableTip } from '../judge/others-work.ts';
import { lookUpUpstream, questionsOf } from '../judge/questions.ts';
import { missingKey } from '../pr-key.ts';
import { type Publication, publish } from '../publish/publish.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal, type RefusalCode, toRefusal } from '../reply/refusal.ts';
import { isUpdate, type NamedPullRequest, type Publishable } from '../verdict/verdict.ts';
import type { HeldPush } from './held-push.ts';

/** Another push came first, or the service itself failed: one of its objects was restarted, or does not answer. */
const MOMENTARY_CODES: ReadonlySet<RefusalCode> = new Set(['in-progress', 'unguarded', 'internal']);

/** How long to pause all other pushes after a failure that does not say how long. */
const FULL_MS = 60_000;

/**
 * @param publication with the place of the pull request that it
 * opens. @param mayGoOn as `Resumed` has it. @throws Refusal, HostError `busy`
 */
export async function release(
  run: PushRun,
  { push, pushHash }: HeldPush,
  publication: Pick<Publication, 'prHash' | 'spool' | 'place'>,
  mayGoOn: () => Promise<void>,
): Promise<void> {
  const { named } = push;
  const claim = named === null ? null : await run.claims.claimPullRequest(named.prHash);
  const again = await judgedAgain(run, push, claim?.recorded ?? null);
  await publish(run, {
    ...publication,
    push: again,
    pushHash,
    claim,
    place: isUpdate(again) ? null : publication.place,
    resumed: { tip: named?.tip ?? null, mayGoOn },
  });
}

async function judgedAgain(
  run: PushRun,
  push: Publishable,
  recorded: RecordedPullRequest | null,
): Promise<Publishable> {
  const { settings } = run;
  const open = openUpstream(await lookUpUpstream(run), settings, push.base.name.slice('refs/heads/'.length));
  const { repository, policy, refs, defaultBranch } = open;
  const questions = questionsOf(run, open);
  const base = refs.find(({ name }) => name === push.base.name) ?? (await baseNotListed(push));
  const history = questions.history([base, defaultBranch]);
  await history.reachBack();
  for (const oid of push.ground) {
    while (!history.isKnown(oid)) if (!(await history.reachBack())) throw rewritten(push);
  }
  const named = push.named === null ? null : await namedNow(push.named, isUpdate(push));
  return {
    ...push,
    repository,
    base,
    named,
    footer: policy?.pullRequestFooter ? push.footer || settings.pullRequestFooter : '',
    policyLimits: policy?.limits ?? [],
    upstream: branchesHolding(history, new Set(push.ground), base, defaultBranch),
  };

  async function baseNotListed({ base: { name } }: Publishable) {
    const branch = name.slice('refs/heads/'.length);
    const found = open.hasAllBranches ? null : await questions.findBranch(branch);
    if (found !== null) return found;
    throw new Refusal('base', 'there is no such base branch', [
      `${fullName(repository)} has no branch "${branch}" any more. Fetch, and push again.`,
    ]);
  }

  /** If it was closed already when the push was judged, a new pull request opens from its branch. */
  async function namedNow({ prHash, tip: before }: NamedPullRequest, wasOpen: boolean) {
    const pullRequest = await questions.findPullRequest(prHash, recorded);
    if (pullRequest !== null && (!wasOpen || isUpdate({ named: { pullRequest } }))) {
      const now = { prHash, pullRequest };
      // It was closed when the push was judged, so nobody has asked for its key.
      const changesTexts = push.title !== null || push.description !== null;
      if (!wasOpen && isUpdate({ named: now }) && changesTexts) throw missingKey('texts');
      const isHarmless = (oid: Oid): boolean =>
        oid === before || oid === recorded?.tip || history.isKnown(oid);
      const overwrite = `git push -o pr-hash=${prHash} -o overwrite ${settings.remoteUrl(repository)} HEAD:refs/heads/my-change`;
      return { ...now, tip: await replaceableTip(run, now, isHarmless, overwrite) };
    }
    throw new Refusal('not-open', 'the pull request is not open any more', [
      'It was merged or closed while your change was held. Nothing was changed there.',
      'Push again without pr-hash if you want a new one.',
    ]);
  }
}

function rewritten({ repository }: Publishable): Refusal {
  return new Refusal('fetch-first', 'upstream has changed', [
    `${fullName(repository)} no longer has the commits that your work is based on.`,
    'Run "git fetch", rebase your work, then push again.',
  ]);
}

/** What a failure means for the push, and whether the next ones would fail as well. */
export interface HeldEnd {
  readonly failure: HoldFailure;
  readonly isForAll: boolean;
}

export function failureOf(error: unknown): HeldEnd {
  const refusal = toRefusal(error, 'git');
  const isMomentaryCode = MOMENTARY_CODES.has(refusal.code);
  // Leave out the lines that tell a person to push again: the service itself tries again.
  const said = isMomentaryCode ? [refusal.reason] : [refusal.reason, ...refusal.lines];
  const isFull = refusal.code === 'account' || (error instanceof HostError && error.code === 'busy');
  // What concerns the account, such as its suspension, ends no push.
  const { whose, retryAfterMs } = hostFailureOf(refusal.cause);
  const isLater =
    isFull || whose === 'ours' || isMomentary(refusal) || refusal.outcome !== null || isMomentaryCode;
  if (!isLater) return { failure: { kind: 'final', said: [...said, ...adviceOn(refusal)] }, isForAll: false };
  const hostAskedMs = retryAfterMs ?? 0;
  const askedMs = Math.max(refusal.waitMs ?? 0, hostAskedMs, isFull ? FULL_MS : 0);
  // A failure that this push did not cause does not make its pauses longer.
  return { failure: { kind: 'later', said, askedMs, counts: !isFull }, isForAll: isFull || hostAskedMs > 0 };
}

/** A pack may name bases that upstream has lost since, which only the host notices. */
function adviceOn({ code }: Refusal): string[] {
  return code === 'push' ? ['If upstream has changed meanwhile: fetch, and push again.'] : [];
}

/** Whether the host does not accept a push now, but may accept it later. */
export function isMomentary({ code, cause }: Refusal): boolean {
  if (code === 'account') return true;
  return cause instanceof HostError && cause.failure.lasts !== 'final';
}
