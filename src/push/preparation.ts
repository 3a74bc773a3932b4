/**
 * What a push must know before its pack is read: its claims, the present state of upstream, and the pull request that
 * it updates. As many requests as possible run in parallel.
 */
import type { GitClient } from '../git/git-client.ts';
import { hostText } from '../host/host-error.ts';
import { fullName, type RepositoryName } from '../host/repository-name.ts';
import type { Place } from './admission.ts';
import { type Claimed, type Claims, wrongKey } from './pull-request/claims.ts';
import type { CommandPlan } from './command/command-plan.ts';
import type { PushOptions } from './command/push-options.ts';
import {
  type Base,
  checkPolicy,
  chooseBase,
  type Continuation,
  findContinuation,
  lookUpUpstream,
  type Upstream,
} from './command/push-target.ts';
import type { PushRun } from './push-run.ts';
import { hasSubmodules } from './pull-request/submodules.ts';

export interface PushSettings {
  readonly anonEmail: string;
  readonly maxRepositoryMb: number;
  readonly writeTimeoutMs: number;
  readonly notifyBaseUrl: string;
  readonly prUpdatePolicy: 'hash' | 'key';
  /** What to do when the author's name would become public. */
  readonly identityCheck: 'refuse' | 'warn' | 'off';
  /** The client of the person who pushes. */
  readonly client: GitClient;
  /** What pull requests end with if the repository's policy asks for it. */
  readonly pullRequestFooter: string;
  /** The address to push to, for the commands in messages. */
  remoteUrl(repository: RepositoryName): string;
  /** The page of a pull request. */
  pageUrl(prHash: string): string;
  /** A new pr_hash. */
  newPrHash(): string;
  /** A new pr-key: 32 hex characters. */
  newPrKey(): string;
}

/** The push that is prepared, and its context. */
export interface PreparedPush {
  readonly run: PushRun;
  readonly settings: PushSettings;
  readonly claims: Claims;
  readonly target: RepositoryName;
  readonly taken: NonNullable<CommandPlan['taken']>;
  readonly options: PushOptions;
  /** A place was taken. It must be returned if the push fails. */
  readonly onPlace: (place: Place) => void;
}

export interface Preparation {
  readonly upstream: Upstream;
  readonly base: Base;
  readonly botLogin: string;
  readonly claimed: Claimed;
  readonly continuation: Continuation;
  readonly hasSubmodules: boolean;
  /** What the pull request's text ends with; may be empty. */
  readonly footer: string;
}

/** @throws Refusal */
export async function prepare(push: PreparedPush): Promise<Preparation> {
  const { run, settings, target, taken, options } = push;
  const { host, steps, reply } = run;
  const { prHash, preview } = options;
  const claiming = claim(push);
  // Before any work at the host. With a pr-hash, only the host can say whether there will be a new pull request.
  if (prHash === null && !preview) await takePlace(push, (await claiming).intent.prHash);
  const [upstream, botLogin, policy, listed, hasModules] = await Promise.all([
    lookUpUpstream(run, target, settings.maxRepositoryMb),
    steps.run('lookup', () => host.botLogin()),
    host.policy(target),
    claiming,
    hasSubmodules(host, target),
  ]);
  checkPolicy(policy, upstream);
  const continuation = await findContinuation(run, upstream, botLogin, prHash, listed);
  const claimed = await claimFound(push, listed, continuation);
  const isNamed = continuation.prHash === prHash;
  // A pull request that the service has not recorded has no key.
  if (isNamed && settings.prUpdatePolicy === 'key' && claimed.update?.isRecorded === false) throw wrongKey();
  if (prHash !== null && !continuation.isUpdate && !preview)
    await takePlace(push, newPullRequestKey(continuation));
  if (continuation.notice !== null) await reply.progress(continuation.notice);
  const current = continuation.isUpdate ? (continuation.pullRequest?.base ?? null) : null;
  const base = await chooseBase(run, taken.target, options.base, current, upstream);
  if (!upstream.hasAllBranches && !base.isNamed) await reply.progress(adviceToNameBase(upstream, base));
  const footer = policy?.pullRequestFooter ? settings.pullRequestFooter : '';
  return { upstream, base, botLogin, claimed, continuation, hasSubmodules: hasModules, footer };
}

/** Commits of branches that were not listed would be taken for the person's. */
function adviceToNameBase({ repository }: Upstream, { ref }: Base): string {
  const base = hostText(ref.name.slice('refs/heads/'.length));
  const name = fullName(repository);
  return `${name} has more branches than this service reads. If your work is not based on "${base}", push to refs/for/<base>.`;
}

function claim({ run, settings, claims, target, taken, options }: PreparedPush): Promise<Claimed> {
  const { newId: tip, refName } = taken.command;
  const committedAt = Math.floor(run.host.clock.now() / 1000);
  const proposed = { prHash: settings.newPrHash(), committedAt };
  return claims.claim({ target, tip, refName, options }, proposed, settings.prUpdatePolicy === 'key');
}

/** The pull request that the push names is not listed, but the host knows it. */
async function claimFound(
  { settings, claims, options }: PreparedPush,
  listed: Claimed,
  { prHash }: Continuation,
): Promise<Claimed> {
  if (listed.update !== null || prHash !== options.prHash) return listed;
  const key = settings.prUpdatePolicy === 'key' ? (options.prKey ?? '') : null;
  return { ...listed, update: await claims.claimPullRequest(prHash, key) };
}

async function takePlace({ run, onPlace }: PreparedPush, key: string): Promise<void> {
  onPlace(await run.host.admission.reserve(key));
}

/** After one was closed, the next one from its branch is a new pull request. */
function newPullRequestKey({ prHash, pullRequest }: Continuation): string {
  return pullRequest === null || pullRequest.isOpen ? prHash : `${prHash} after ${pullRequest.number}`;
}
