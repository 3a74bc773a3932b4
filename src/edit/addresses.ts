/** Finds e-mail addresses in a text, which people seldom mean to publish. */

/**
 * Matches addresses. Its lengths are bounded, and it is tried only where a word begins, so its cost
 * is linear.
 */
const ADDRESS = /(?<![\p{L}\p{N}_.+-])([\p{L}\p{N}_.+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63})/gu;

/** Splits a text for a page that marks addresses: every second piece is one. */
export function aroundAddresses(text: string): readonly string[] {
  return text.split(ADDRESS);
}

/** Returns the addresses that only the new text has, without repetition. */
export function newAddresses(before: string, after: string): readonly string[] {
  const known = new Set(before.match(ADDRESS));
  return [...new Set(after.match(ADDRESS))].filter((address) => !known.has(address));
}
