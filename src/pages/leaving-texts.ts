/**
 * Texts that would leave with a delayed push, for the operator to review. The service adds nothing
 * that tells who has pushed. Pure.
 */
import { decodeEscaped, encodeEscaped, utf8 } from '../git/bytes.ts';
import { decodedMessage } from '../git/objects/commit-message.ts';
import { withIds } from '../git/objects/planned-commits.ts';
import { branchName } from '../git/wire/ref-advertisement.ts';
import type { KeptPush } from '../push/delay/kept-push.ts';
import { pushedText, statedText, UNKNOWN_IDS } from '../text/pull-request-text.ts';

/** The longest character in any encoding, by which only the beginning of a message is decoded. */
const MAX_CHARACTER_BYTES = 4;

export interface ShownText {
  readonly text: string;
  /** How many bytes are left out. */
  readonly missing: number;
}

export type LeavingTexts = ReturnType<typeof textsLeaving>;
export type ShownMessage = LeavingTexts['messages'][number];

export interface TextLimits {
  readonly mostMessages: number;
  /** The most characters that are shown of a text. */
  readonly longest: number;
}

export function textsLeaving(
  { target, work }: Pick<KeptPush, 'target' | 'work'>,
  { mostMessages, longest }: TextLimits,
) {
  const { base, prHash, commits, isDraft } = work;
  const shown = (text: string): ShownText => ({
    text: text.slice(0, longest),
    missing: utf8(text.slice(longest)).byteLength,
  });
  // The footer that the repository may want is added at publication.
  const worded = { ...work, footer: statedText(work.stated) };
  const { title, body } = pushedText(worded, UNKNOWN_IDS, prHash !== null);
  const count = Math.min(commits.length, mostMessages);
  return {
    repository: target,
    /** The branch to merge into. */
    base: branchName(base),
    /** The hash of the pull request to update; null if the push opens one. */
    updates: prHash,
    isDraft: isDraft && prHash === null,
    /** The title; null, like the description, if that of the open pull request stays. */
    title: title === null ? null : shown(title),
    description: body === null ? null : shown(body),
    commitCount: commits.length,
    /** The first messages, oldest first. */
    messages: Array.from({ length: count }, (_, number) => {
      const { encoding, message: planned } = commits.at(number);
      const message = withIds(planned, UNKNOWN_IDS.idOf);
      const read = message.subarray(0, endOfCharacter(message, MAX_CHARACTER_BYTES * longest));
      const text = decodeEscaped(read).slice(0, longest);
      const missing = message.byteLength - encodeEscaped(text).byteLength;
      const other = decodedMessage({ encoding, message: read }).slice(0, longest);
      // The text in the encoding that the commit names, if that differs from the text in UTF-8.
      const encoded = encoding === null || other === text ? null : { text: other, missing };
      return { text, missing, encoding, encoded };
    }),
  };
}

/** Finds the last offset up to `most` at which no character of UTF-8 is cut. */
function endOfCharacter(bytes: Uint8Array, most: number): number {
  let end = Math.min(most, bytes.byteLength);
  for (let back = 1; back < MAX_CHARACTER_BYTES && (bytes[end] ?? 0) >> 6 === 0b10; back++) end -= 1;
  return end;
}
