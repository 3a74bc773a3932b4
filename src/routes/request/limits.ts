/**
 * Refuses clients that are over a limit, always before the work that the limit bounds. An attempt
 * counts before that work, too; only a look-up counts afterwards, if it finds nothing.
 * Proved by test/routes/request/limits.test.ts and test/routes/request/refused-first.test.ts.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { OpenLimitName } from '../../limits/limits.ts';
import type { Denied } from '../../limits/claim.ts';
import { NO_WAIT, toldMs, type TriedWait, type Wait } from '../../limits/sliding-window.ts';
import {
  FOREIGN_WAIT_MS,
  FOREIGN_WORDS,
  limitsOf,
  type NamedTarget,
  tooMany,
  tooManyForeign,
  deniedWords,
} from '../../service/limits.ts';
import { suspensionOf } from '../../service/suspension.ts';
import type { GuardStatus } from '../../durable/guard/guard.ts';
import { isStorageFailure } from '../../storage-failure.ts';
import { sentence } from '../../words/sentence.ts';
import { answerRefused, NOT_KEPT, type Refused, refused, retryAfter } from './refused.ts';
import { isForOtherSite, scopeOf } from './scope.ts';

/** Counts an attempt to write. Null: the client may go on. A limit that is not known refuses. */
export async function refuseTooMany(c: Context<AppEnv>, name: OpenLimitName): Promise<Refused | null> {
  const limits = limitsOf(scopeOf(c));
  try {
    const calls = await limits.known('calls');
    if (calls.waitMs > 0) return overLimit(c, 'calls', calls);
    const wait = await limits.count(name);
    return wait.waitMs > 0 ? overLimit(c, name, wait) : null;
  } catch (error) {
    return uncheckedLimit(c, error);
  }
}

/** Refuses whoever is known to be over a limit, and counts nothing. Null: nobody knows of it. */
export async function knownOver(c: Context<AppEnv>, name: OpenLimitName): Promise<Refused | null> {
  const limits = limitsOf(scopeOf(c));
  for (const each of ['calls', name] as const) {
    const wait = await limits.known(each).catch(() => NO_WAIT);
    if (wait.waitMs > 0) return overLimit(c, each, wait);
  }
  return null;
}

/**
 * Counts a comment or an issue. A page of another site has a small window besides, and is told the
 * same whichever is full.
 */
export async function refusePost(c: Context<AppEnv>): Promise<Refused | null> {
  const scope = scopeOf(c);
  if (!scope.isForeign) return refuseTooMany(c, 'comments');
  try {
    const { waitMs } = await limitsOf(scope).count('foreign');
    const refusal = waitMs > 0 ? null : await refuseTooMany(c, 'comments');
    return waitMs > 0 || refusal?.status === 429 ? FOREIGN_REFUSED : refusal;
  } catch (error) {
    return uncheckedLimit(c, error);
  }
}

const FOREIGN_REFUSED = refused(429, FOREIGN_WORDS, { 'Retry-After': retryAfter(FOREIGN_WAIT_MS) });

function uncheckedLimit(c: Context<AppEnv>, error: unknown): Refused {
  c.var.logger.error('a limit could not be checked', { error });
  const message = isStorageFailure(error)
    ? 'the service cannot write at the moment; nothing was posted: try again later'
    : 'the service cannot check its limits; nothing was posted: try again in a minute';
  return refused(503, message, { 'Retry-After': '60' });
}

/** Counts a request that only reads, and passes if its limit cannot be checked. */
export async function withinLimit(
  c: Context<AppEnv>,
  name: OpenLimitName,
  work: () => Promise<Response>,
): Promise<Response> {
  const counted = isForOtherSite(c) ? 'foreignReads' : name;
  const wait = await limitsOf(scopeOf(c)).countOrPass(counted);
  return wait.waitMs > 0 ? textRefusal(c, counted, wait) : work();
}

/**
 * Looks something up. Misses count; after too many, a client that guesses does not even learn of a
 * hit.
 * @returns what `find` finds, or the refusal.
 */
export async function lookUp<T>(
  c: Context<AppEnv>,
  find: () => Promise<T | null>,
): Promise<T | Response | null> {
  const limits = limitsOf(scopeOf(c));
  // A limit that is not known passes: a look-up only reads.
  const name = isForOtherSite(c) ? 'foreignReads' : 'lookUps';
  const known = await limits.known(name).catch(() => NO_WAIT);
  if (known.waitMs > 0) return textRefusal(c, name, known);
  const found = await find();
  const wait = found === null ? await limits.countMiss(name) : NO_WAIT;
  return wait.waitMs > 0 ? textRefusal(c, name, wait) : found;
}

function textRefusal(
  c: Context<AppEnv>,
  name: OpenLimitName | 'foreignReads',
  wait: TriedWait,
): Response | Promise<Response> {
  const over = name === 'foreignReads' ? refusedUntil(wait, tooManyForeign(wait)) : overLimit(c, name, wait);
  const headers = { ...over.headers, ...NOT_KEPT };
  return answerRefused(c, { ...over, explanation: sentence(over.error), headers }, 'text');
}

const overLimit = (c: Context<AppEnv>, name: OpenLimitName, wait: TriedWait): Refused =>
  refusedUntil(wait, tooMany(c.var.config, name, wait));

export function refusedUntil(wait: Wait, error: string): Refused {
  return refused(429, error, { 'Retry-After': retryAfter(toldMs(wait)) });
}

export function refusedToPost(c: Context<AppEnv>, denied: Denied, target: NamedTarget): Refused {
  if (denied.window === 'unknown') return uncheckedLimit(c, denied.error);
  return refusedUntil(denied, deniedWords(c.var, denied, target));
}

/** Refuses comments and issues while they are suspended; null: they are accepted. */
export function refuseSuspendedWriting(c: Context<AppEnv>): Promise<Refused | null> {
  return refuseSuspended(c, 'comments and issues', ({ writesSuspended }) => writesSuspended);
}

/**
 * Refuses private reports while anything is suspended, because nothing can take one back; null:
 * they are accepted.
 */
export function refuseSuspendedReports(c: Context<AppEnv>): Promise<Refused | null> {
  return refuseSuspended(c, 'private reports', isAnythingSuspended);
}

const isAnythingSuspended = ({ panicMode, writesSuspended }: GuardStatus): boolean =>
  panicMode || writesSuspended;

async function refuseSuspended(
  c: Context<AppEnv>,
  what: string,
  isSuspended: (status: GuardStatus) => boolean,
): Promise<Refused | null> {
  try {
    if (!isSuspended(await suspensionOf(c.env))) return null;
    const words = `${what} are suspended; try again in 15 minutes`;
    return refused(503, words, { 'Retry-After': String(15 * 60) }, 'suspended');
  } catch (error) {
    return uncheckedLimit(c, error);
  }
}
