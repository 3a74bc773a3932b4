/** E-mail addresses in a text, which people seldom mean to publish. Pure. */

/** Bounded, and tried only where a word begins, so that its cost is linear. */
const ADDRESS = /(?<![\p{L}\p{N}_.+-])([\p{L}\p{N}_.+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,63})/gu;

/** The text in pieces, each second one an address: for a page that marks them. */
export function aroundAddresses(text: string): readonly string[] {
  return text.split(ADDRESS);
}

/** Addresses that the new text has and the old one has not, each once. */
export function newAddresses(before: string, after: string): readonly string[] {
  const known = new Set(before.match(ADDRESS));
  return [...new Set(after.match(ADDRESS))].filter((address) => !known.has(address));
}
