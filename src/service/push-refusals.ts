/**
 * The words for a push that a limit, a pause or the panic switch refuses.
 * Proved by test/service/push-limits.test.ts and test/routes/request/refused-first.test.ts.
 */
import { hostNameOf } from '../config/hosts.ts';
import { openBackOff } from '../host-access.ts';
import { HostPause } from '../host/failure.ts';
import { LONGEST_REPEAT_WAIT_MS } from '../host/retries.ts';
import { type Claim, type Denied, prefixLimit } from '../limits/claim.ts';
import type { Client } from '../limits/client.ts';
import { FORKS, ONION_PULL_REQUESTS, PULL_REQUESTS } from '../limits/limits.ts';
import { toldMs, type TriedWait, type Wait } from '../limits/sliding-window.ts';
import { pseudonymOf } from '../notify/alert.ts';
import { guardOf } from '../objects.ts';
import { cannotWrite, Refusal } from '../push/reply/refusal.ts';
import { isStorageFailure } from '../storage-failure.ts';
import { sentence } from '../words/sentence.ts';
import {
  deniedWords,
  FOREIGN_WAIT_MS,
  FOREIGN_WORDS,
  type NamedTarget,
  tooMany,
  waitText,
} from './limits.ts';
import type { HostScope } from './scope.ts';

const TOO_MANY = { pushes: 'too many pushes', calls: 'too many requests' };

export function suspended(): Refusal {
  return new Refusal('suspended', 'service temporarily suspended', [
    'SERVICE TEMPORARILY SUSPENDED',
    'The service is suspended due to detected bot activity sending mass PRs.',
    'Please retry in 15 minutes.',
  ]);
}

/** Refuses a page of another site, always in these words, whatever its network has used up. */
export function foreignFull(): Refusal {
  const lines = [
    `Rate limit exceeded: max ${PULL_REQUESTS.most} PRs per hour per IP.`,
    'Please try again later.',
    FOREIGN_WORDS,
  ];
  return new Refusal('rate-limited', 'rate limit exceeded', lines, { waitMs: FOREIGN_WAIT_MS });
}

/** Refuses a client that is over a limit; null: it is below. */
export function overLimit(scope: HostScope, name: keyof typeof TOO_MANY, wait: TriedWait): Refusal | null {
  if (wait.waitMs <= 0) return null;
  if (scope.isForeign) return foreignFull();
  return new Refusal('rate-limited', TOO_MANY[name], [sentence(tooMany(scope.config, name, wait))]);
}

/**
 * Refuses another pull request in the contract's words (section 7), and says how long to wait.
 * @param claim has the limits of its windows. The client need not be known.
 */
export function noneLeft(
  { isForeign }: HostScope,
  { windows }: Claim,
  window: Denied['window'],
  wait: Wait,
): Refusal {
  if (isForeign) return foreignFull();
  const { most } = windows.find(({ kind }) => kind === window)?.limits[0] ?? PULL_REQUESTS;
  const ofPrefix = most === ONION_PULL_REQUESTS.most ? 'onion service' : 'IPv6 /48';
  const whose = window === 'prefix' ? ofPrefix : 'IP';
  const lines = [
    `Rate limit exceeded: max ${most} PRs per hour per ${whose}.`,
    'Please try again later.',
    `Try again in ${waitText(wait)}.`,
  ];
  return new Refusal('rate-limited', 'rate limit exceeded', lines, { waitMs: toldMs(wait) });
}

/**
 * Refuses a claim that the account has denied.
 * @param target the repository, if its own limit may refuse.
 * @param client null: nobody is to be alerted.
 */
export function denied(
  scope: HostScope,
  claim: Claim,
  denial: Denied,
  target: NamedTarget | null = null,
  client: Client | null = null,
): Refusal {
  const { window, full } = denial;
  if (window === 'unknown') return outOfReach(scope, denial.error);
  if (window === 'address' || window === 'prefix') {
    if (client !== null && full?.isAlertDue) scope.later(alertOperator(scope, client, window, full.attempts));
    return noneLeft(scope, claim, window, denial);
  }
  if (window === 'forks' && scope.isForeign) return foreignFull();
  if (window === 'forks')
    return new Refusal('rate-limited', 'too many forks', [
      `Pushes from your network have made the service fork ${FORKS.most} repositories within an hour, which is the limit. Try again in ${waitText(denial)}, or push to one of these.`,
      'Nothing was changed.',
    ]);
  const lines = [sentence(deniedWords(scope, denial, target)), 'Nothing was changed.'];
  const options = { outcome: 'rate-limited', waitMs: toldMs(denial) } as const;
  return window === 'repository'
    ? new Refusal('rate-limited', 'too many pull requests for this repository', lines, options)
    : new Refusal('account', 'the bot account has little left', lines, options);
}

/** Tells the operator of a network that goes on without room for a pull request. Never rejects. */
async function alertOperator(
  { env, logger }: HostScope,
  owner: Client,
  window: 'address' | 'prefix',
  attempts: number,
): Promise<void> {
  const [network, hash, { most }] =
    window === 'address'
      ? [owner.network, owner.hash('alert'), PULL_REQUESTS]
      : [owner.prefix, owner.prefixHash('alert'), prefixLimit(owner)];
  await guardOf(env)
    .tell({ kind: 'rate-limit', client: pseudonymOf(hash), attempts, most }, Date.now(), network)
    .catch((error: unknown) => logger.error('an alert could not be raised', { error }));
}

/**
 * Refuses while the code host wants to be left alone, because a push would fail half-way, and going
 * on can cost the account. Null: the host has not asked for a pause that is worth mentioning.
 */
export function hostPaused({ env, host }: HostScope): Refusal | null {
  const leftMs = openBackOff(env, host).leftMs();
  if (leftMs <= LONGEST_REPEAT_WAIT_MS) return null;
  const cause = new HostPause(hostNameOf(host), leftMs);
  const lines = [cause.publicMessage, 'Nothing was changed there. Push again after that.'];
  return new Refusal('account', 'the code host asks to wait', lines, { cause, waitMs: leftMs });
}

/** Refuses because a limit cannot be checked, or nothing can be stored. */
export function outOfReach({ logger }: HostScope, error: unknown): Refusal {
  logger.error('the limits of a push could not be checked', { error });
  if (isStorageFailure(error)) return cannotWrite(error, 'Nothing was changed. Push again later.');
  const lines = ['Nothing was changed. Push again in a few minutes.'];
  return new Refusal('unguarded', 'the service cannot check its limits', lines, { cause: error });
}
