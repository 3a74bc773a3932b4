/**
 * The key of a pull request. Its pr_hash is public, because its branch has that name, so the hash alone only updates
 * it. The author also gets this key, to withdraw the pull request and to change its texts.
 */
import { keyedHash } from './keyed-hash.ts';

const LENGTH = 32;

/**
 * 32 lower-case hex characters. It follows from the hash, so nothing has to be stored, and a push that is repeated
 * shows the same one. One of them is a letter: see newPrHash in src/pr-hash.ts.
 */
export function prKeyOf(secret: string, prHash: string): string {
  const key = keyedHash(secret, 'pr-key', prHash).slice(0, LENGTH);
  return /[a-f]/.test(key) ? key : `a${key.slice(1)}`;
}
