/**
 * Connects the limits of one push with the guard, with the bot account, and with what its address
 * has used.
 * Proved by test/push/admission.test.ts.
 */
import type { Context } from 'hono';
import { hostNameOf, recordName } from '../../config/hosts.ts';
import { accountLimits } from '../../config/config.ts';
import { BURST_PUSHES, BURST_WINDOW_MS } from '../../durable/guard/burst.ts';
import { openBackOff } from '../../durable/host-access.ts';
import type { Told } from '../../durable/pull-request/pull-request.ts';
import type { AppEnv } from '../../env.ts';
import { HostPause, LONGEST_REPEAT_WAIT_MS } from '../../host/failure.ts';
import { Recent } from '../../isolate/recent.ts';
import { within } from '../../isolate/within.ts';
import { type Client, isCircuit, type Names, windowKey } from '../../limits/client.ts';
import { FORKS, PULL_REQUESTS } from '../../limits/limits.ts';
import type { Grant, Refused } from '../../limits/port.ts';
import { type ClientHits, hitBy, toldMs, type TriedWait, type Wait } from '../../limits/sliding-window.ts';
import {
  type AccountLimits,
  forkWants,
  openingIn,
  prefixLimit,
  pullRequestWants,
  quotaNamesOf,
  type Wants,
  writesNow,
  writeWants,
} from '../../limits/wants.ts';
import { pseudonymOf } from '../../notify/alert.ts';
import { guardOf } from '../../objects.ts';
import type { Slot, PushLimits } from '../../push/push-host.ts';
import { cannotWrite, Refusal } from '../../push/reply/refusal.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { type OpenedPullRequest, openStatistics, recordOpened } from '../../stats/statistics.ts';
import { isStorageFailure } from '../../storage-failure.ts';
import { clientOf } from '../request/client.ts';
import {
  FOREIGN_WAIT_MS,
  FOREIGN_WORDS,
  isForeign,
  limitsOf,
  type NamedTarget,
  targetOf,
  tooMany,
  waitText,
  waitWords,
} from '../request/limits.ts';
import { sentence } from '../request/refused.ts';
import { arePushesSuspended } from '../request/suspension.ts';

const TOO_MANY = { pushes: 'too many pushes', calls: 'too many requests' };
/** How long an answer waits for the guard and statistics. */
const TELLING_MS = 3_000;

/** Pushes of clients that have no room for another pull request. */
const told: ClientHits = new Recent({ most: 10_000 });

export function pushLimits(c: Context<AppEnv>): PushLimits {
  const client = (): Promise<Client> => clientOf(c);
  const limits = limitsOf(c);

  return {
    async enter(isWithdrawal, opens, patience = 'none') {
      try {
        const pusher = await client();
        const calls = isWithdrawal ? null : overLimit('calls', await limits.known('calls'));
        const foreign = isForeign(c) ? (await limits.count('foreign')).waitMs : 0;
        const known =
          foreign > 0 ? foreignFull() : (calls ?? overLimit('pushes', await limits.known('pushes')));
        const opening = opens && patience !== 'wait' ? await anyOpening() : null;
        const full = opening && limits.knownFull(opening);
        const refusal = full?.isTold ? noneLeft(c, full.for, full, pusher) : null;
        // Panic comes first (contract, 4.6), also for a push that does not reach the guard.
        if (known !== null || (refusal !== null && !mustBeTold(windowKey(pusher, true))))
          return (await arePushesSuspended(c.env)) ? suspended() : (refusal ?? known);
        const address = pusher.hash('burst');
        const prefix = pusher.prefixHash('burst');
        const wider = await limits.widened('pushes');
        const { panicMode, ...wait } = await guardOf(c.env).admit(
          address,
          limits.of('pushes'),
          prefix,
          wider,
        );
        await limits.remember('pushes', wait);
        if (panicMode) return suspended();
        const isAsked = opening !== null && (full !== null || wait.waitMs === 0);
        const counted = isAsked ? await refuse(opening) : null;
        return counted ?? overLimit('pushes', wait) ?? (patience === 'none' ? refusedByPause(c) : null);
      } catch (error) {
        // The guard may have been reset because it could not store that a burst was told.
        const isSuspended = await arePushesSuspended(c.env).catch(() => false);
        return isSuspended ? suspended() : outOfReach(c, error);
      }
    },

    async refuseFull(slotHash) {
      try {
        return await refuse(await wantsOf((await slotHash?.()) ?? ''));
      } catch (error) {
        c.var.logger.error('the limits of a push could not be checked', { error });
        return null;
      }
    },

    async slot(slotHash) {
      const [owner, wants] = await checked(Promise.all([client(), wantsOf(slotHash)]));
      return openSlot(c, wants, accountLimits(c.var.config, c.var.host), owner.prefixHash('burst'), owner);
    },

    async peek() {
      try {
        const wait = await limits.refusal(await anyOpening(), false);
        return wait && refusalOf(c, wait);
      } catch (error) {
        return outOfReach(c, error);
      }
    },

    takeQuota: async () => void (await reserve(c, writeWants(await quotaNames()))),
    async takeFork(forked) {
      const [by, owner] = [await quotaNames(), await client()];
      const of = { client: owner, repository: recordName(c.var.host, forked) };
      await reserve(c, forkWants(by, of, accountLimits(c.var.config, c.var.host)));
    },
  };

  /** As `wantsOf`, of no push in particular: who repeats one learns no more than others do. */
  async function anyOpening(): Promise<Wants> {
    return { ...pullRequestWants(await client(), ''), push: null };
  }

  /** What another pull request counts in for its client alone. */
  async function wantsOf(slotHash: string): Promise<Wants> {
    const secret = await serviceSecret(c.env, c.var.config.identitySecret);
    // Another hash than the push's own: what is kept with an address must not lead to its pull
    // requests.
    return pullRequestWants(await client(), keyedHash(secret, 'slot', slotHash));
  }

  async function quotaNames(): Promise<Names> {
    return quotaNamesOf(await checked(client()));
  }

  /** @throws Refusal */
  function checked<T>(known: Promise<T>): Promise<T> {
    return known.catch((error: unknown) => {
      throw outOfReach(c, error);
    });
  }

  /**
   * Counts a push that opens nothing, if it is refused; null: its client has room, or nobody knows.
   */
  async function refuse(wants: Wants): Promise<Refusal | null> {
    const wait = await limits.refusal(wants, true);
    if (wait?.for === 'unknown') c.var.logger.error('the limits of a push could not be checked', wait);
    if (wait === null || wait.for === 'unknown') return null;
    return refusalOf(c, wait, null, await client());
  }

  /** Null: the client is below that limit. */
  function overLimit(name: keyof typeof TOO_MANY, wait: TriedWait): Refusal | null {
    if (wait.waitMs <= 0) return null;
    if (isForeign(c)) return foreignFull();
    return new Refusal('rate-limited', TOO_MANY[name], [sentence(tooMany(c, name, wait))]);
  }
}

/**
 * What a pull request takes of client, repository and account.
 * @param own of its client; without windows if it was delayed, as they are given.
 * @param burst by which the guard counts its client.
 * @param client null: nobody is alerted.
 */
export function openSlot(
  c: Context<AppEnv>,
  own: Wants,
  account: AccountLimits,
  burst: string,
  client: Client | null = null,
): Slot {
  let wanted = own;
  let target: NamedTarget | null = null;
  let grants: Grant[] = [];
  return {
    async take(repository, policyLimits) {
      target = await targetOf(c, repository, null, policyLimits);
      wanted = openingIn(target, account, own);
      grants.push(await reserve(c, wanted, target, client));
    },
    async settle(isAnother) {
      const left = leftOf(wanted, isAnother);
      if (left !== null) grants.push(await reserve(c, left, target, client));
    },
    opened: (pullRequest) => tellOpened(c, pullRequest, burst),
    owed: () => leftOf(own, true),
    async release() {
      const back = grants;
      grants = [];
      await Promise.all(back.map((grant) => grant.release()));
      wanted = own;
    },
  };

  /** What is not granted yet of the client's limits; null: all is. */
  function leftOf(wants: Wants, isAnother: boolean): Wants | null {
    const windows = wants.windows.filter((window) => !grants.some((grant) => grant.covers(window)));
    return windows.length === 0 ? null : { ...wants, windows, push: own.push && { ...own.push, isAnother } };
  }
}

/**
 * @param target, client as `refusalOf` has them.
 * @throws Refusal: others come first, or the host needs a pause.
 */
export async function reserve(
  c: Context<AppEnv>,
  wants: Wants,
  target: NamedTarget | null = null,
  client: Client | null = null,
): Promise<Grant> {
  const reserved = await limitsOf(c).reserve(wants);
  if (reserved.kind === 'grant' || reserved.for !== 'unknown')
    openBackOff(c.env, c.var.host).learn(reserved.pauseMs);
  const isFull = reserved.kind === 'wait' && reserved.full !== null;
  const paused = writesNow(wants) && !isFull ? refusedByPause(c) : null;
  if (reserved.kind === 'wait') throw paused ?? refusalOf(c, reserved, target, client);
  if (paused === null) return reserved;
  await reserved.release();
  throw paused;
}

/**
 * @param target the repository, if its own limit may refuse.
 * @param client null: nobody is to be alerted.
 */
function refusalOf(
  c: Context<AppEnv>,
  wait: Refused,
  target: NamedTarget | null = null,
  client: Client | null = null,
): Refusal {
  if (wait.for === 'unknown') return outOfReach(c, wait.error);
  if (wait.for === 'address' || wait.for === 'prefix') {
    if (client !== null && wait.full?.isAlertDue)
      c.executionCtx.waitUntil(alertOperator(c, client, wait.for, wait.full.attempts));
    return noneLeft(c, wait.for, wait, client);
  }
  if (wait.for === 'forks' && isForeign(c)) return foreignFull();
  if (wait.for === 'forks')
    return new Refusal('rate-limited', 'too many forks', [
      `Pushes from your network have made the service fork ${FORKS.most} repositories within an hour, which is the limit. Try again in ${waitText(wait)}, or push to one of these.`,
      'Nothing was changed.',
    ]);
  const lines = [sentence(waitWords(c, wait, target)), 'Nothing was changed.'];
  const options = { outcome: 'rate-limited', waitMs: toldMs(wait) } as const;
  return wait.for === 'repository'
    ? new Refusal('rate-limited', 'too many pull requests for this repository', lines, options)
    : new Refusal('account', 'the bot account has little left', lines, options);
}

/**
 * The contract's words (section 7), and how long to wait.
 * @param client null: only the last line is shown.
 */
function noneLeft(c: Context<AppEnv>, kind: Refused['for'], wait: Wait, client: Client | null): Refusal {
  if (isForeign(c)) return foreignFull();
  const ofPrefix = client !== null && isCircuit(client) ? 'onion service' : 'IPv6 /48';
  const whose = kind === 'prefix' ? ofPrefix : 'IP';
  const { most } = kind === 'prefix' && client !== null ? prefixLimit(client) : PULL_REQUESTS;
  const lines = [
    `Rate limit exceeded: max ${most} PRs per hour per ${whose}.`,
    'Please try again later.',
    `Try again in ${waitText(wait)}.`,
  ];
  return new Refusal('rate-limited', 'rate limit exceeded', lines, { waitMs: toldMs(wait) });
}

/** What a page of another site is told, whatever its network has used up. */
function foreignFull(): Refusal {
  const lines = [
    `Rate limit exceeded: max ${PULL_REQUESTS.most} PRs per hour per IP.`,
    'Please try again later.',
    FOREIGN_WORDS,
  ];
  return new Refusal('rate-limited', 'rate limit exceeded', lines, { waitMs: FOREIGN_WAIT_MS });
}

/** Never rejects. */
async function alertOperator(
  c: Context<AppEnv>,
  owner: Client,
  kind: 'address' | 'prefix',
  attempts: number,
): Promise<void> {
  const [network, hash, { most }] =
    kind === 'address'
      ? [owner.network, owner.hash('alert'), PULL_REQUESTS]
      : [owner.prefix, owner.prefixHash('alert'), prefixLimit(owner)];
  await guardOf(c.env)
    .tell({ kind: 'rate-limit', client: pseudonymOf(hash), attempts, most }, Date.now(), network)
    .catch((error: unknown) => c.var.logger.error('an alert could not be raised', { error }));
}

/**
 * Counts a full client's push. The operator hears of a refused burst, too: the guard gets as many
 * as make one.
 */
function mustBeTold(client: string): boolean {
  const limit = { most: BURST_PUSHES, withinMs: BURST_WINDOW_MS };
  return hitBy(client, told, [limit], Date.now()).waitMs === 0;
}

/**
 * Tells the guard and statistics before the push is answered. Answers who could not be told. Never
 * rejects.
 */
async function tellOpened(
  c: Context<AppEnv>,
  { number, ...opened }: OpenedPullRequest & { readonly number: number },
  client: string,
): Promise<readonly Told[]> {
  const { env } = c;
  const { config, http, logger } = c.var;
  const { prHash, host, owner, repo, url, openedAt } = opened;
  const tell = (whom: Told, telling: Promise<void>): Promise<readonly Told[]> =>
    within(TELLING_MS, telling).then(
      () => [],
      (error: unknown) => {
        logger.warn('an open pull request will be told of later', { error });
        return [whom];
      },
    );
  const tracked = { kind: 'pull-request', prHash, host, owner, repo, number, url } as const;
  const left = await Promise.all([
    tell('tracking', guardOf(env).track(tracked, client, openedAt)),
    tell('statistics', recordOpened(env, config, http, opened)),
  ]);
  await openStatistics(env, config, logger, http).forgetCount(opened);
  return left.flat();
}

/**
 * The code host wants to be left alone: a push would fail half-way, and going on can cost the
 * account.
 */
function refusedByPause(c: Context<AppEnv>): Refusal | null {
  const leftMs = openBackOff(c.env, c.var.host).leftMs();
  if (leftMs <= LONGEST_REPEAT_WAIT_MS) return null;
  const cause = new HostPause(hostNameOf(c.var.host), leftMs);
  const lines = [cause.publicMessage, 'Nothing was changed there. Push again after that.'];
  return new Refusal('account', 'the code host asks to wait', lines, { cause, waitMs: leftMs });
}

export function suspended(): Refusal {
  return new Refusal('suspended', 'service temporarily suspended', [
    'SERVICE TEMPORARILY SUSPENDED',
    'The service is suspended due to detected bot activity sending mass PRs.',
    'Please retry in 15 minutes.',
  ]);
}

function outOfReach(c: Context<AppEnv>, error: unknown): Refusal {
  c.var.logger.error('the limits of a push could not be checked', { error });
  if (isStorageFailure(error)) return cannotWrite(error, 'Nothing was changed. Push again later.');
  const lines = ['Nothing was changed. Push again in a few minutes.'];
  return new Refusal('unguarded', 'the service cannot check its limits', lines, { cause: error });
}
