/**
 * One-way names for what the service must recognise again without knowing it: HMAC-SHA256 with the
 * service's secret. Each use has its own prefix, so that equal texts of two uses never give equal
 * hashes. The identity hash has none, as the contract gives its text (2.2), which begins with an
 * owner's name without a colon.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * What a hash is for. A client's network has seven uses, so that what is kept for one cannot be
 * matched with another: `window` names the object that counts its limits, `burst` counts it among
 * those that push, `alert` names it to the operator, `reporter` counts its report of one pseudonym,
 * `quota` counts what it has had of the bot account, `delayed` what it keeps for later, and
 * `attempt` names one of its pushes, which may be made again. `push`: a repository and an original
 * tip. `slot`: a pull request that is to be opened. `form`: a form that the service made, and what
 * it decides. `received`: everything that a push has sent. `release`: the leave to publish it.
 * `review`: until when the operator may see what waits. `target`: a repository or a thread, for
 * what is posted there. `work`: a commit without author and dates. `pr-key`: a pr_hash. `kv`,
 * `kv-value`: an entry's name in KV, and its key. `cache`: an entry's address in the data centre's
 * cache.
 */
export type ClientUse = 'window' | 'burst' | 'alert' | 'reporter' | 'quota' | 'delayed' | 'attempt';
type PushUse = 'push' | 'work' | 'slot' | 'received' | 'release' | 'review';
type HashUse = ClientUse | PushUse | 'form' | 'target' | 'pr-key' | 'kv' | 'kv-value' | 'cache';

/** 64 lower-case hex characters. Cost: two SHA-256 blocks and the text. */
export function keyedHash(secret: string, use: HashUse, text: string): string {
  return createHmac('sha256', secret).update(`${use}:${text}`).digest('hex');
}

/**
 * The identity hash of a person on a thread: 8 lower-case hex characters (contract, 2.2).
 * @param thread `owner/repo#number`, in upper or lower case: to the host it is one thread, and a
 * blocked person must stay blocked.
 */
export function identityHash(secret: string, thread: string, userToken: string): string {
  const text = `${thread.toLowerCase()}|${userToken}`;
  return createHmac('sha256', secret).update(text).digest('hex').slice(0, 8);
}

/**
 * The key of a pull request: 32 lower-case hex characters. Its pr_hash is public, as its branch has
 * that name, so it only updates it. The author's key also withdraws it and changes its texts. It
 * follows from the hash: nothing is stored, and a push that is repeated shows the same one. It has
 * a letter: see newPrHash in src/words/pr-hash.ts.
 */
export function prKeyOf(secret: string, prHash: string): string {
  const key = keyedHash(secret, 'pr-key', prHash).slice(0, 32);
  return /[a-f]/.test(key) ? key : `a${key.slice(1)}`;
}

/**
 * Compares in constant time. As the hashes are compared, the time does not depend on the lengths
 * either.
 */
export function isSameSecret(sent: string, expected: string): boolean {
  return timingSafeEqual(sha256(sent), sha256(expected));
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
