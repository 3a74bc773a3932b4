/**
 * The slot of a pull request: what the push takes of its client's, the repository's and the
 * account's limits.
 * Proved by test/service/push-limits.test.ts and test/e2e/push/own-record.test.ts.
 */
import type { ToldTo } from '../durable/pull-request/pull-request.ts';
import { accountOf, openBackOff, payerIn } from '../host-access.ts';
import { within } from '../isolate/within.ts';
import {
  type AccountLimits,
  type Claim,
  type ClaimedWindow,
  isOfOneNetwork,
  openingIn,
  writesNow,
} from '../limits/claim.ts';
import type { Client } from '../limits/client.ts';
import type { Granted } from '../limits/port.ts';
import type { Limit } from '../limits/sliding-window.ts';
import { guardOf } from '../objects.ts';
import type { Slot } from '../push/push-host.ts';
import { Refusal } from '../push/reply/refusal.ts';
import { openStatistics, recordOpened } from '../stats/statistics.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import { creationLimitsOf, type NamedTarget, targetOf } from './limits.ts';
import { denied, hostPaused } from './push-refusals.ts';
import type { HostScope } from './scope.ts';

/** The time that an answer waits for the guard and the statistics. */
const PATIENCE_MS = 3_000;

type OpenedNow = Parameters<Slot['opened']>[0];

/**
 * Reserves a claim.
 * @param target the repository, if its own limit may deny it.
 * @param client null: nobody is to be alerted.
 * @param payer the account whose limits count.
 * @throws Refusal: the claim is denied, or the host needs a pause.
 */
export async function reserveSlot(
  scope: HostScope,
  claim: Claim,
  target: NamedTarget | null = null,
  client: Client | null = null,
  payer = accountOf(scope.host),
): Promise<Granted> {
  const answer = await creationLimitsOf(scope, payer).reserve(claim);
  if (answer.pauseMs !== undefined) openBackOff(scope.env, scope.host, payer).learn(answer.pauseMs);
  const isNetworkFull = answer.kind === 'denied' && answer.full !== null;
  const paused = writesNow(claim) && !isNetworkFull ? hostPaused(scope) : null;
  if (answer.kind === 'denied') {
    const refusal = denied(scope, claim, answer, target, client);
    throw paused ?? (payer === accountOf(scope.host) ? refusal : ofInstallation(refusal));
  }
  if (paused === null) return answer;
  await answer.release();
  throw paused;
}

/** Says that the App has little left in one repository: that stops no other delayed push. */
function ofInstallation(refusal: Refusal): Refusal {
  if (refusal.code !== 'account') return refusal;
  const { lines, outcome, waitMs } = refusal;
  return new Refusal('rate-limited', 'the App has little left there', lines, { outcome, waitMs });
}

interface SlotOwner {
  /** The claim on the client alone; without windows if they were granted before. */
  readonly claim: Claim;
  readonly account: AccountLimits;
  /** The name by which the guard counts the client. */
  readonly burst: string;
  /** The client that an alert names; null: nobody is alerted. */
  readonly client: Client | null;
}

export class PullRequestSlot implements Slot {
  readonly #scope: HostScope;
  readonly #owner: SlotOwner;
  /** The whole claim: on the client, and on the repository once that is known. */
  #claim: Claim;
  #target: NamedTarget | null = null;
  /** The account that opens it: the bot's, or an installation of the App. */
  #payer: string;
  #grants: Granted[] = [];

  constructor(scope: HostScope, owner: SlotOwner) {
    this.#scope = scope;
    this.#owner = owner;
    this.#claim = owner.claim;
    this.#payer = accountOf(scope.host);
  }

  async take(repository: RepositoryName, policyLimits: readonly Limit[]): Promise<void> {
    const { account, claim } = this.#owner;
    this.#target = await targetOf(this.#scope, repository, null, policyLimits);
    this.#payer = await payerIn(this.#scope, repository);
    this.#claim = openingIn(this.#target, account, claim);
    await this.#reserve(this.#claim);
  }

  async settle(isAnother: boolean): Promise<void> {
    const left = this.#leftOf(this.#claim, isAnother);
    if (left !== null) await this.#reserve(left);
  }

  opened(pullRequest: OpenedNow): ReturnType<Slot['opened']> {
    return tellOpened(this.#scope, pullRequest, this.#owner.burst);
  }

  owed(): Claim | null {
    return this.#leftOf(this.#owner.claim, true);
  }

  async release(): Promise<void> {
    const grants = this.#grants;
    this.#grants = [];
    await Promise.all(grants.map((grant) => grant.release()));
    this.#claim = this.#owner.claim;
  }

  /**
   * Reserves a claim at the accounts in which it counts. The windows of a network count at the
   * bot's, whoever opens the pull request.
   */
  async #reserve(claim: Claim): Promise<void> {
    const grants: Granted[] = [];
    try {
      for (const [payer, part] of partsOf(claim, accountOf(this.#scope.host), this.#payer))
        grants.push(await reserveSlot(this.#scope, part, this.#target, this.#owner.client, payer));
    } catch (error) {
      await Promise.all(grants.map((grant) => grant.release()));
      throw error;
    }
    this.#grants.push(...grants);
  }

  /** The part of a claim that is not granted yet; null: all of it is. */
  #leftOf(claim: Claim, isAnother: boolean): Claim | null {
    const { push } = this.#owner.claim;
    const windows = claim.windows.filter((window) => !this.#grants.some((grant) => grant.covers(window)));
    return windows.length === 0 ? null : { ...claim, windows, push: push && { ...push, isAnother } };
  }
}

/** Divides a claim into what counts for the network at the bot's account, and the payer's rest. */
function partsOf(claim: Claim, bot: string, payer: string): readonly (readonly [string, Claim])[] {
  if (payer === bot) return [[bot, claim]];
  const part = (account: string, windows: readonly ClaimedWindow[]) =>
    windows.length === 0 ? [] : [[account, { ...claim, windows }] as const];
  return [
    ...part(bot, claim.windows.filter(isOfOneNetwork)),
    ...part(
      payer,
      claim.windows.filter((window) => !isOfOneNetwork(window)),
    ),
  ];
}

/**
 * Tells the guard and the statistics of an open pull request, before the push is answered. Never
 * rejects.
 * @param burst by which the guard counts the client.
 * @returns who could not be told, and will be told later.
 */
async function tellOpened(
  { env, config, http, logger }: HostScope,
  { number, ...opened }: OpenedNow,
  burst: string,
): Promise<readonly ToldTo[]> {
  const { prHash, host, owner, repo, url, openedAt, app = null } = opened;
  const tell = (whom: ToldTo, telling: Promise<void>): Promise<readonly ToldTo[]> =>
    within(PATIENCE_MS, telling).then(
      () => [],
      (error: unknown) => {
        logger.warn('an open pull request will be told of later', { error });
        return [whom];
      },
    );
  const tracked = { kind: 'pull-request', prHash, host, owner, repo, number, url, app } as const;
  const left = await Promise.all([
    tell('tracking', guardOf(env).track(tracked, burst, openedAt)),
    tell('statistics', recordOpened(env, config, http, opened)),
  ]);
  await openStatistics(env, config, logger, http).forgetCount(opened);
  return left.flat();
}
