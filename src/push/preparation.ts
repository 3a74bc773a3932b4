/**
 * What a push has to know before its pack is read: what it lays hold of, upstream as it is now, and which pull request
 * it is for. As much of it as can be is asked for at once.
 */
import type { GitClient } from '../git/git-client.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { Place } from './admission.ts';
import { type Claimed, type Claims, wrongKey } from './claims.ts';
import type { CommandPlan } from './command-plan.ts';
import type { PushOptions } from './push-options.ts';
import {
  type Base,
  checkPolicy,
  chooseBase,
  type Continuation,
  findContinuation,
  lookUpUpstream,
  type Upstream,
} from './push-target.ts';
import type { PushRun } from './push-run.ts';
import { hasSubmodules } from './submodules.ts';

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
  /** The address to push to, as the person would type it. */
  remoteUrl(repository: RepositoryName): string;
  /** The page of a pull request. */
  pageUrl(prHash: string): string;
  /** A new pr_hash. */
  newPrHash(): string;
  /** A new pr-key: 32 hex characters. */
  newPrKey(): string;
}

/** What is being prepared, and what with. */
export interface PreparedPush {
  readonly run: PushRun;
  readonly settings: PushSettings;
  readonly claims: Claims;
  readonly target: RepositoryName;
  readonly taken: NonNullable<CommandPlan['taken']>;
  readonly options: PushOptions;
  /** A place was taken; it is to be given back if the push fails. */
  readonly onPlace: (place: Place) => void;
}

export interface Preparation {
  readonly upstream: Upstream;
  readonly base: Base;
  readonly botLogin: string;
  readonly claimed: Claimed;
  readonly continuation: Continuation;
  readonly hasSubmodules: boolean;
}

/** @throws Refusal */
export async function prepare(push: PreparedPush): Promise<Preparation> {
  const { run, settings, target, taken, options } = push;
  const { host, steps, reply } = run;
  const { prHash, preview } = options;
  const claiming = claim(push);
  // Before any work at the host; with a pr-hash only the host can say whether there will be a new pull request.
  if (prHash === null && !preview) await takePlace(push, (await claiming).intent.prHash);
  const [upstream, botLogin, policy, claimed, hasModules] = await Promise.all([
    lookUpUpstream(run, target, settings.maxRepositoryMb),
    steps.run('lookup', () => host.botLogin()),
    host.policy(target),
    claiming,
    hasSubmodules(host, target),
  ]);
  checkPolicy(policy, upstream);
  const continuation = await findContinuation(run, upstream, botLogin, prHash, claimed);
  const isNamed = continuation.prHash === prHash;
  // A pull request that the service knows nothing of has no key.
  if (isNamed && settings.prUpdatePolicy === 'key' && claimed.update?.isRecorded === false) throw wrongKey();
  if (prHash !== null && !continuation.isUpdate && !preview)
    await takePlace(push, newPullRequestKey(continuation));
  if (continuation.notice !== null) await reply.progress(continuation.notice);
  const current = continuation.isUpdate ? (continuation.pullRequest?.base ?? null) : null;
  const base = chooseBase(taken.target, options.base, current, upstream);
  return { upstream, base, botLogin, claimed, continuation, hasSubmodules: hasModules };
}

function claim({ run, settings, claims, target, taken, options }: PreparedPush): Promise<Claimed> {
  const { newId: tip, refName } = taken.command;
  const committedAt = Math.floor(run.host.clock.now() / 1000);
  const proposed = { prHash: settings.newPrHash(), committedAt };
  return claims.claim({ target, tip, refName, options }, proposed, settings.prUpdatePolicy === 'key');
}

async function takePlace({ run, onPlace }: PreparedPush, key: string): Promise<void> {
  onPlace(await run.host.admission.reserve(key));
}

/** Where one was closed, the next from its branch is another. */
function newPullRequestKey({ prHash, pullRequest }: Continuation): string {
  return pullRequest === null || pullRequest.isOpen ? prHash : `${prHash} after ${pullRequest.number}`;
}
