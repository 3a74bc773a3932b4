/** Compares a secret that a client sent with the service's own. */
import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether both are the same, in constant time. It compares their hashes, so that the time does not depend on the
 * lengths either. Cost: two SHA-256.
 */
export function isSameSecret(sent: string, expected: string): boolean {
  return timingSafeEqual(sha256(sent), sha256(expected));
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
