/** Compares a secret that a client sent with the service's own. */
import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether both are the same, in a time that tells nothing of either: their hashes are compared, so that lengths do not
 * show. Cost: two SHA-256.
 */
export function isSameSecret(sent: string, expected: string): boolean {
  return timingSafeEqual(sha256(sent), sha256(expected));
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
