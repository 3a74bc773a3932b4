/**
 * The limits of one push: the checks that let it in, in their order, and what it takes of them.
 * Proved by test/service/push-limits.test.ts and test/routes/request/refused-first.test.ts.
 */
import { accountLimits } from '../config/config.ts';
import { recordName } from '../config/hosts.ts';
import { BURST_PUSHES, BURST_WINDOW_MS } from '../durable/guard/burst.ts';
import { Recent } from '../isolate/recent.ts';
import { type Claim, forkClaim, pullRequestClaim, quotaNamesOf, writeClaim } from '../limits/claim.ts';
import { type Client, windowKey } from '../limits/client.ts';
import { type ClientHits, hitBy, NO_WAIT, type TriedWait } from '../limits/sliding-window.ts';
import type { CreationLimits } from '../limits/port.ts';
import { guardOf } from '../objects.ts';
import type { PushLimits, Slot } from '../push/push-host.ts';
import type { Refusal } from '../push/reply/refusal.ts';
import { keyedHash } from '../secret/keyed-hash.ts';
import { serviceSecret } from '../secret/open-secret.ts';
import type { RepositoryName } from '../words/repository-name.ts';
import { creationLimitsOf, limitsOf } from './limits.ts';
import {
  denied,
  foreignFull,
  hostPaused,
  noneLeft,
  outOfReach,
  overLimit,
  suspended,
} from './push-refusals.ts';
import { clientOf, type HostScope } from './scope.ts';
import { PullRequestSlot, reserveSlot } from './slot.ts';
import { arePushesSuspended } from './suspension.ts';

type Patience = Parameters<PushLimits['enter']>[2];

/** A push that asks to be let in. */
interface Entry {
  readonly scope: HostScope;
  readonly client: Client;
  readonly isWithdrawal: boolean;
  readonly patience: Patience;
  /** The pull request that it opens; null: none, or its network's limit does not matter. */
  readonly opening: Claim | null;
  /** Its network's window, if this isolate knows it to be full. */
  readonly full: ReturnType<CreationLimits['knownFull']>;
  /** The wait of the client's pushes, as the guard has said. */
  pushes: TriedWait;
}

/** Answers null if the push passes. */
type Check = (entry: Entry) => Promise<Refusal | null> | Refusal | null;

/** The checks in their order. The first refusal is the answer. */
const CHECKS: readonly Check[] = [remembered, guard, networkIsFull, tooManyPushes, hostNeedsPause];

/** Limits that refuse without a call of an object, but for the window of foreign pages. */
const REMEMBERED: readonly Check[] = [foreignPages, knownCalls, knownPushes];

async function firstRefusal(checks: readonly Check[], entry: Entry): Promise<Refusal | null> {
  for (const check of checks) {
    const refusal = await check(entry);
    if (refusal !== null) return refusal;
  }
  return null;
}

/**
 * Refuses whoever this isolate knows to be over a limit, so that few of their further pushes reach
 * an object.
 */
async function remembered(entry: Entry): Promise<Refusal | null> {
  const { scope, client, opening, full } = entry;
  const over = await firstRefusal(REMEMBERED, entry);
  const noRoom = opening && full?.hasDenied ? noneLeft(scope, opening, full.window, full) : null;
  if (over === null && (noRoom === null || isForGuard(client))) return null;
  // Panic comes first (contract, 4.6), also for a push that does not reach the guard.
  return (await arePushesSuspended(scope.env)) ? suspended() : (noRoom ?? over);
}

async function foreignPages({ scope }: Entry): Promise<Refusal | null> {
  if (!scope.isForeign) return null;
  const { waitMs } = await limitsOf(scope).count('foreign');
  return waitMs > 0 ? foreignFull() : null;
}

async function knownCalls({ scope, isWithdrawal }: Entry): Promise<Refusal | null> {
  return isWithdrawal ? null : overLimit(scope, 'calls', await limitsOf(scope).known('calls'));
}

async function knownPushes({ scope }: Entry): Promise<Refusal | null> {
  return overLimit(scope, 'pushes', await limitsOf(scope).known('pushes'));
}

/** Pushes of clients that have no room for another pull request, by network. */
const withoutRoom: ClientHits = new Recent({ most: 10_000 });

/**
 * Decides whether the guard counts a push that its network's full window refuses. It gets as many
 * as make a burst, because the operator hears of a refused burst, too.
 */
function isForGuard(client: Client): boolean {
  const limit = { most: BURST_PUSHES, withinMs: BURST_WINDOW_MS };
  return hitBy(windowKey(client, true), withoutRoom, [limit], Date.now()).waitMs === 0;
}

/** Counts the push at the guard, and refuses it in panic. */
async function guard(entry: Entry): Promise<Refusal | null> {
  const { scope, client } = entry;
  const limits = limitsOf(scope);
  const [address, prefix] = [client.hash('burst'), client.prefixHash('burst')];
  const wider = await limits.widened('pushes');
  const { panicMode, ...wait } = await guardOf(scope.env).admit(address, limits.of('pushes'), prefix, wider);
  entry.pushes = await limits.remember('pushes', wait);
  return panicMode ? suspended() : null;
}

/**
 * Asks the account about a push that opens something, unless it is refused anyway and this isolate
 * does not know the window to be full.
 */
async function networkIsFull({ scope, client, opening, full, pushes }: Entry): Promise<Refusal | null> {
  const isAsked = opening !== null && (pushes.waitMs === 0 || full !== null);
  return isAsked ? countDenied(scope, opening, client) : null;
}

function tooManyPushes({ scope, pushes }: Entry): Refusal | null {
  return overLimit(scope, 'pushes', pushes);
}

function hostNeedsPause({ scope, patience }: Entry): Refusal | null {
  return patience === 'none' ? hostPaused(scope) : null;
}

/**
 * Refuses a push whose client has no room for another pull request; the account counts it, if it is
 * asked. Null: there is room, or nobody knows.
 */
async function countDenied(scope: HostScope, claim: Claim, client: Client): Promise<Refusal | null> {
  const denial = await creationLimitsOf(scope).denial(claim, true);
  if (denial?.window === 'unknown')
    scope.logger.error('the limits of a push could not be checked', { error: denial.error });
  return denial === null || denial.window === 'unknown' ? null : denied(scope, claim, denial, null, client);
}

/** A claim for no push in particular, so that who repeats one learns no more than others do. */
const anyOpening = (client: Client): Claim => ({ ...pullRequestClaim(client, ''), push: null });

export class ClientPushLimits implements PushLimits {
  readonly #scope: HostScope;
  readonly #isLetIn: boolean;

  /** @param isLetIn the push of a form, which has asked `enter` before it read anything. */
  constructor(scope: HostScope, isLetIn = false) {
    this.#scope = scope;
    this.#isLetIn = isLetIn;
  }

  async enter(isWithdrawal: boolean, opens: boolean, patience: Patience = 'none'): Promise<Refusal | null> {
    const scope = this.#scope;
    if (this.#isLetIn) return null;
    try {
      const client = await clientOf(scope);
      const opening = opens && patience !== 'wait' ? anyOpening(client) : null;
      const full = opening && creationLimitsOf(scope).knownFull(opening);
      const entry = { scope, client, isWithdrawal, patience, opening, full, pushes: NO_WAIT };
      return await firstRefusal(CHECKS, entry);
    } catch (error) {
      // The guard may have been reset because it could not store that a burst was told.
      const isSuspended = await arePushesSuspended(scope.env).catch(() => false);
      return isSuspended ? suspended() : outOfReach(scope, error);
    }
  }

  async suspension(): Promise<Refusal | null> {
    try {
      return (await arePushesSuspended(this.#scope.env)) ? suspended() : null;
    } catch (error) {
      return outOfReach(this.#scope, error);
    }
  }

  async refuseFull(slotHash?: () => Promise<string>): Promise<Refusal | null> {
    try {
      const client = await clientOf(this.#scope);
      const claim = await this.#claimOf(client, (await slotHash?.()) ?? '');
      return await countDenied(this.#scope, claim, client);
    } catch (error) {
      this.#scope.logger.error('the limits of a push could not be checked', { error });
      return null;
    }
  }

  async slot(slotHash: string): Promise<Slot> {
    const client = await this.#client();
    const claim = await this.#claimOf(client, slotHash);
    return new PullRequestSlot(this.#scope, {
      claim,
      account: accountLimits(this.#scope.config, this.#scope.host),
      burst: client.prefixHash('burst'),
      client,
    });
  }

  async peek(): Promise<Refusal | null> {
    try {
      const claim = anyOpening(await clientOf(this.#scope));
      const denial = await creationLimitsOf(this.#scope).denial(claim, false);
      return denial && denied(this.#scope, claim, denial);
    } catch (error) {
      return outOfReach(this.#scope, error);
    }
  }

  async takeQuota(): Promise<void> {
    await reserveSlot(this.#scope, writeClaim(quotaNamesOf(await this.#client())));
  }

  async takeFork(forked: RepositoryName): Promise<void> {
    const { config, host } = this.#scope;
    const client = await this.#client();
    const of = { client, repository: recordName(host, forked) };
    await reserveSlot(this.#scope, forkClaim(quotaNamesOf(client), of, accountLimits(config, host)));
  }

  /** @throws Refusal */
  #client(): Promise<Client> {
    return clientOf(this.#scope).catch((error: unknown) => {
      throw outOfReach(this.#scope, error);
    });
  }

  /**
   * The claim of a pull request on its client alone. Its hash is another than the push's own,
   * because what is kept with an address must not lead to its pull requests.
   */
  async #claimOf(client: Client, slotHash: string): Promise<Claim> {
    const { env, config } = this.#scope;
    const secret = await serviceSecret(env, config.identitySecret);
    return pullRequestClaim(client, keyedHash(secret, 'slot', slotHash));
  }
}
