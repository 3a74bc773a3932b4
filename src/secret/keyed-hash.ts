/**
 * Keyed hashes: one-way names for what the service must recognise again without knowing it, made by
 * HMAC-SHA256 with the service's secret. Each use has its own prefix, so that equal texts of two
 * uses never give equal hashes. Only the identity hash has none: the contract gives its text (2.2),
 * which begins with an owner's name or a host's key, and so with none of these prefixes.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Uses of a hash. A client's network has seven, so that records of one use cannot be matched with
 * those of another:
 *
 * - `window` names the object that counts its limits.
 * - `burst` counts it among those that push or post, and names it for a rollback.
 * - `alert` names it to the operator.
 * - `reporter` counts its report of one pseudonym.
 * - `quota` counts what it has had of the bot account.
 * - `delayed` counts its delayed pushes.
 * - `attempt` names one of its pushes, which may be repeated.
 *
 * The others:
 *
 * - `push`: a repository and an original tip.
 * - `slot`: a pull request that is to be opened.
 * - `received`: everything that a push has sent.
 * - `release`: the permission to publish a delayed push.
 * - `review`: the operator's cookie for delayed pushes.
 * - `work`: the files of a commit, or its id without author and dates.
 * - `others`: a commit of somebody else's in an update that is delayed.
 * - `form`: a form that the service made, and what follows from it.
 * - `target`: a repository or a thread in which something is posted.
 * - `pr-key`: the key of a pull request.
 * - `kv`, `kv-value`: the name of an entry in KV, and its encryption key.
 * - `cache`: the address of an entry in the data centre's cache.
 */
export type ClientUse = 'window' | 'burst' | 'alert' | 'reporter' | 'quota' | 'delayed' | 'attempt';
type PushUse = 'push' | 'work' | 'others' | 'slot' | 'received' | 'release' | 'review';
type HashUse = ClientUse | PushUse | 'form' | 'target' | 'pr-key' | 'kv' | 'kv-value' | 'cache';

/** Computes a keyed hash, as 64 lower-case hexadecimal digits. */
export function keyedHash(secret: string, use: HashUse, text: string): string {
  return createHmac('sha256', secret).update(`${use}:${text}`).digest('hex');
}

/**
 * Computes the identity hash of a person on a thread: 8 lower-case hexadecimal digits (contract,
 * 2.2).
 * @param thread is `owner/repo#number`, on another host `cb/owner/repo#number`. Its case does not
 * matter: to the host it is one thread, and a blocked person must stay blocked.
 */
export function identityHash(secret: string, thread: string, userToken: string): string {
  const text = `${thread.toLowerCase()}|${userToken}`;
  return createHmac('sha256', secret).update(text).digest('hex').slice(0, 8);
}

/**
 * Computes the key of a pull request: 32 lower-case hexadecimal digits. A pr_hash is public,
 * because the branch is named after it, so it only serves to update the pull request. It takes the
 * key to withdraw it or to change its texts. It follows from the hash, so nothing is stored. It
 * always contains a letter: see `newPrHash` in src/words/pr-hash.ts.
 */
export function prKeyOf(secret: string, prHash: string): string {
  const key = keyedHash(secret, 'pr-key', prHash).slice(0, 32);
  return /[a-f]/.test(key) ? key : `a${key.slice(1)}`;
}

/**
 * Compares two secrets in constant time. Their hashes are compared, so the time does not depend on
 * their lengths either.
 */
export function isSameSecret(sent: string, expected: string): boolean {
  return timingSafeEqual(sha256(sent), sha256(expected));
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
