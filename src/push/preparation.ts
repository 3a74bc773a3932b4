/**
 * What a push has to know before its pack is read: what it lays hold of, upstream as it is now, and which pull request
 * it is for. As much of it as can be is asked for at once.
 */
import type { Ref } from '../git/ref-advertisement.ts';
import type { RepositoryName } from '../host/repository-name.ts';
import type { Place } from './admission.ts';
import { type Claimed, type Claims, wrongKey } from './claims.ts';
import type { CommandPlan } from './command-plan.ts';
import type { PushHost } from './push-host.ts';
import type { PushOptions } from './push-options.ts';
import {
  checkPolicy,
  chooseBase,
  type Continuation,
  findContinuation,
  lookUpUpstream,
  type Upstream,
} from './push-target.ts';
import { hostStep } from './refusal.ts';
import type { Reply } from './reply.ts';

export interface PushSettings {
  readonly anonEmail: string;
  readonly maxRepositoryMb: number;
  readonly writeTimeoutMs: number;
  readonly notifyBaseUrl: string;
  readonly prUpdatePolicy: 'hash' | 'key';
  /** The address that was pushed to, as the person would type it. */
  readonly remoteUrl: string;
  /** A new pr_hash. */
  newPrHash(): string;
  /** A new pr-key: 32 hex characters. */
  newPrKey(): string;
}

/** What is being prepared, and what with. */
export interface PreparedPush {
  readonly host: PushHost;
  readonly settings: PushSettings;
  readonly claims: Claims;
  readonly reply: Reply;
  readonly target: RepositoryName;
  readonly taken: NonNullable<CommandPlan['taken']>;
  readonly options: PushOptions;
  /** A place was taken; it is to be given back if the push fails. */
  readonly onPlace: (place: Place) => void;
}

export interface Preparation {
  readonly upstream: Upstream;
  readonly base: Ref;
  readonly botLogin: string;
  readonly claimed: Claimed;
  readonly continuation: Continuation;
}

/** @throws Refusal */
export async function prepare(push: PreparedPush): Promise<Preparation> {
  const { host, settings, reply, target, taken, options } = push;
  const { prHash } = options;
  const claiming = claim(push);
  // Before any work at the host; with a pr-hash only the host can say whether there will be a new pull request.
  if (prHash === null) await takePlace(push, (await claiming).intent.prHash);
  const [upstream, botLogin, policy, claimed] = await Promise.all([
    lookUpUpstream(host, target, settings.maxRepositoryMb),
    hostStep('lookup', () => host.botLogin()),
    host.policy(target),
    claiming,
  ]);
  checkPolicy(policy, upstream);
  const continuation = await findContinuation(host, upstream, botLogin, prHash, claimed);
  const isNamed = continuation.prHash === prHash;
  // A pull request that the service knows nothing of has no key.
  if (isNamed && settings.prUpdatePolicy === 'key' && claimed.update?.isRecorded === false) throw wrongKey();
  if (prHash !== null && !continuation.isUpdate) await takePlace(push, newPullRequestKey(continuation));
  if (continuation.notice !== null) await reply.progress(continuation.notice);
  const base = chooseBase(taken.target, options.base, upstream);
  return { upstream, base, botLogin, claimed, continuation };
}

function claim({ host, settings, claims, target, taken, options }: PreparedPush): Promise<Claimed> {
  const { newId: tip, refName } = taken.command;
  const committedAt = Math.floor(host.clock.now() / 1000);
  const proposed = { prHash: settings.newPrHash(), committedAt };
  return claims.claim({ target, tip, refName, options }, proposed, settings.prUpdatePolicy === 'key');
}

async function takePlace({ host, onPlace }: PreparedPush, key: string): Promise<void> {
  onPlace(await host.admission.reserve(key));
}

/** Where one was closed, the next from its branch is another. */
function newPullRequestKey({ prHash, pullRequest }: Continuation): string {
  return pullRequest === null || pullRequest.isOpen ? prHash : `${prHash} after ${pullRequest.number}`;
}
