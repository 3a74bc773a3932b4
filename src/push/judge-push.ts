/**
 * Judges a push. It asks outside for all that this needs: a claim, the limits, what the host says.
 * Then follows a refusal, a preview, or a push that may be published.
 * Proved by test/e2e/push/push-acts.test.ts and test/e2e/push/all-at-once.test.ts.
 */
import { stopSentence } from '../policy/policy.ts';
import { linesOf } from '../words/finding.ts';
import { repositoryKey, type RepositoryName } from '../words/repository-name.ts';
import { codesOf, unconfirmed } from './consent.ts';
import { type DelayPlan, mayWait, withAdvice } from './delay/keep.ts';
import { type Circumstances, type Records, UNKNOWN_HASH } from './judge/destination.ts';
import { Findings, refusalOf } from './judge/findings.ts';
import { type Judged, judge } from './judge/judge.ts';
import {
  GitQuestions,
  lookUpPlace,
  lookUpUpstream,
  type Place,
  PlaceQuestions,
  type Upstream,
} from './judge/questions.ts';
import { previewOf } from './preview.ts';
import { compareWork } from './same-work.ts';
import { type ClaimedUpdate, type PushRun, receivedHashOf, slotHashOf } from './push-run.ts';
import { isDoubtful } from './receive/push-options.ts';
import type { Received } from './receive/receive.ts';
import { willBePublished } from './reply/banner.ts';
import { isMomentary, Refusal, refusedOptions } from './reply/refusal.ts';

const ASKS_NOW =
  'A preview asks the code host about the repository now. A delayed push asks only when it is published.';

function whenPublished({ reason, ...window }: DelayPlan): string {
  const then = reason === 'review' ? 'waits until the operator has reviewed it.' : willBePublished(window);
  return `Without -o preview, it ${then}`;
}

export interface JudgedPush extends Judged, Pick<Upstream, 'hostAheadMs'> {
  readonly slotHash: string;
  readonly receivedHash: string;
}

/**
 * @param plan not null: the host is asked only what a clone asks, unless it is a preview.
 * @throws Refusal, also for a preview
 */
export async function judgePush(
  run: PushRun,
  received: Received,
  plan: DelayPlan | null,
): Promise<JudgedPush> {
  const { options, pack } = received;
  const slotHash = await slotHashOf(run, received);
  const receivedHash = await receivedHashOf(run, received);
  const { upstream, place, circumstances } = await lookAround(run, received, plan, slotHash).catch(
    (error: unknown) => {
      const findings = new Findings();
      findings.add(refusedOptions(received.faults));
      throw findings.endedBy(error, run.settings.client);
    },
  );
  const git = new GitQuestions(run, upstream);
  const { findings, ...judged } = await judge(received, upstream, place, circumstances, git);
  const { work, compared } = judged;
  if (compared?.found?.state === 'open') run.reply.noteSame(compared.found);
  const { unknown = [], found = [] } = Object.groupBy(findings, ({ code }) =>
    code === UNKNOWN_HASH ? 'unknown' : 'found',
  );
  const refusal = refusalOf(found);
  // The person has named it, and learns before anything else that it is not there.
  if (options.preview || refusal !== null) await run.reply.note(...linesOf(unknown));
  if (options.preview && judged.place !== null) {
    const push = { ...work, ...judged.place };
    const waits = run.consent.waits && plan === null && refusal === null;
    const yes = waits && unconfirmed(findings, options.yes).length > 0 ? codesOf(findings) : [];
    throw await previewOf(run, pack, push, { ...judged, findings: found, yes }, circumstances.refusal);
  }
  if (refusal !== null) throw refusal;
  pack.kept.free(work.commits.byteLength);
  const { hostAheadMs } = upstream;
  return { ...judged, findings: [...unknown, ...found], slotHash, receivedHash, hostAheadMs };
}

interface Surveyed {
  readonly upstream: Upstream;
  /**
   * The place that the push goes to; null: the host's interface is not asked yet, or has failed for
   * now.
   */
  readonly place: Place | null;
  readonly circumstances: Circumstances;
}

/** @throws Refusal */
async function lookAround(
  run: PushRun,
  received: Received,
  plan: DelayPlan | null,
  slotHash: string,
): Promise<Surveyed> {
  const { host, store, settings, claims } = run;
  const { options, faults } = received;
  const { prHash, preview } = options;
  // What may have been meant to wait, or to update a pull request, is not told to the host now.
  const isUpdateMeant = isDoubtful(faults, 'pr-hash');
  const isQuiet = (plan !== null && !preview) || isUpdateMeant || isDoubtful(faults, 'delay', 'wait');
  const mayPublish = !preview && faults.length === 0;
  if (!mayPublish) claims.lockNothing();
  const claimed = prHash === null ? null : await claims.claimListed(prHash);
  // Before it is published, only our own record can say of which repository the pull request is.
  const listed = isQuiet && isElsewhere(claimed, run.target) ? null : claimed;
  const refusal = await askLimits(run, received, listed, slotHash);
  if (preview && plan !== null && !isQuiet) await run.reply.note(ASKS_NOW, whenPublished(plan));
  if (mayPublish && !isQuiet) {
    void host.connectAhead('push');
    void host.connectAhead('pull-request');
  }
  /** If the host does not say now what it has to say, the push may wait for that. */
  const unlessWaits = (error: unknown): null => {
    const waits = error instanceof Refusal && isMomentary(error) && !preview && mayWait(settings, options);
    if (!waits) throw error;
    return null;
  };
  const [listedRefs, looked, botLogin] = await Promise.all([
    lookUpUpstream(run),
    isQuiet ? refuseStopped(run) : lookUpPlace(run).catch(unlessWaits),
    run.steps.run('lookup', () => host.botLogin(isQuiet)),
  ]);
  const upstream = { ...listedRefs, repository: looked?.repository ?? listedRefs.repository };
  const place = looked && { ...looked, ask: new PlaceQuestions(run, upstream.repository, botLogin) };
  const now = Math.floor(host.clock.now() / 1000);
  const isOpen = async () => isUpdateMeant || (listed !== null && (await store.isOpen(prHash ?? '')));
  const wasOpen = place === null && (await isOpen());
  const records: Records = {
    recorded: (hash) => store.recorded(hash),
    compare: (push, as) => compareWork(run, push, as),
  };
  const { memory } = host;
  const circumstances = { settings, botLogin, listed, records, memory, now, refusal, wasOpen };
  return { upstream, place, circumstances };
}

/**
 * Refuses a push that is published later, if the maintainers have said stop: nobody has to ask the
 * host for that. The rest of the policy is asked for when it is published.
 * @throws Refusal
 */
async function refuseStopped({ host, target }: PushRun): Promise<null> {
  const { stoppedAt } = await host.said(target);
  if (stoppedAt === null) return null;
  throw new Refusal('policy', 'not accepted by the repository', stopSentence(target, stoppedAt).split('\n'));
}

/**
 * Asks whether the client's limits leave room, where the push costs the host something before it
 * takes its slot. Answers why a preview would be refused; null: it would not.
 * @throws Refusal
 */
async function askLimits(
  run: PushRun,
  { options, faults }: Received,
  listed: ClaimedUpdate | null,
  slotHash: string,
): Promise<Refusal | null> {
  const { limits } = run;
  const { prHash, preview } = options;
  // Nothing is published with wrong options, as in a preview.
  const isTried = preview || faults.length > 0;
  const isAsked = (isTried || prHash !== null) && listed === null;
  const full = isAsked ? await limits.peek() : null;
  // A made-up hash must not cost the host anything, and is an attempt like any other.
  if (full !== null && !preview)
    throw withAdvice(run, options, (await limits.refuseFull(async () => slotHash)) ?? full);
  // What can be repeated without end, and never reaches the account's own check, is counted here.
  if (isTried) await limits.takeQuota();
  return full;
}

function isElsewhere(claimed: ClaimedUpdate | null, target: RepositoryName): boolean {
  const recorded = claimed?.recorded ?? null;
  if (recorded === null) return false;
  const { host, owner, repo } = recorded;
  return repositoryKey(host, { owner, name: repo }) !== repositoryKey(host, target);
}
