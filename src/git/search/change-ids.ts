/**
 * Change-Ids in messages, which the commit-msg hook of Gerrit adds: `I<40 hex>`, after `Change-Id:` or at the end of a
 * link (`gerrit.reviewUrl`), and wherever else a person has copied one to. Nothing else looks like that.
 *
 * The hook makes them as a hash over the committer's name, address, second and zone, so anybody who sees one can test a
 * guess, as with an original commit id.
 */
const CHANGE_ID = /(?<![0-9a-z])I[0-9a-f]{40}(?![0-9a-f])/gi;

/** Where each begins. Cost: linear in the text. */
export function* changeIdsIn(text: Uint8Array): Generator<number> {
  const latin1 = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');
  for (const { index } of latin1.matchAll(CHANGE_ID)) yield index;
}
