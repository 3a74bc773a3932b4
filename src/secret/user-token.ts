/** The token that lets an author without an account keep the same pseudonym (contract, 2.1). */

export const TOKEN_BYTES = 10;
/** The alphabet of RFC 4648, section 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const NANOSECONDS_PER_MS = 1_000_000n;

/**
 * Makes a token of 80 random bits, as 16 characters. If there is no randomness, it is made of the
 * time, as the contract says, and is not secret.
 */
export function newUserToken(
  fillRandomly: (bytes: Uint8Array) => void = (bytes) => void crypto.getRandomValues(bytes),
  now: () => number = Date.now,
): string {
  const bytes = new Uint8Array(TOKEN_BYTES);
  try {
    fillRandomly(bytes);
  } catch {
    return `tok-${BigInt(now()) * NANOSECONDS_PER_MS}`;
  }
  return base32(bytes);
}

/** Encodes bytes in base 32 without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let bitCount = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    for (bitCount += 8; bitCount >= 5; bitCount -= 5) text += BASE32[(bits >> (bitCount - 5)) & 31];
  }
  return bitCount === 0 ? text : text + BASE32[(bits << (5 - bitCount)) & 31];
}
