/**
 * What would leave with a delayed push, as texts for the operator. Nothing in them tells who has
 * pushed. Pure.
 * Proved by test/e2e/delayed/delayed-review.test.ts.
 */
import { decodeEscaped } from '../git/bytes.ts';
import { decodedMessage } from '../git/objects/commit-message.ts';
import { withIds } from '../git/objects/planned-commits.ts';
import type { KeptPush } from '../push/delay/kept-push.ts';
import { namedText, statedText, UNKNOWN_IDS, wholeText } from '../text/pull-request-text.ts';

export interface ShownText {
  readonly text: string;
  /** How many characters more it has. */
  readonly missing: number;
}

export type LeavingTexts = ReturnType<typeof textsLeaving>;
export type ShownMessage = LeavingTexts['messages'][number];

export interface TextLimits {
  readonly mostMessages: number;
  /** Characters of each text. */
  readonly longest: number;
}

export function textsLeaving(
  { target, work }: Pick<KeptPush, 'target' | 'work'>,
  { mostMessages, longest }: TextLimits,
) {
  const { base, prHash, commits, isDraft } = work;
  const shown = (text: string): ShownText => ({
    text: text.slice(0, longest),
    missing: Math.max(0, text.length - longest),
  });
  // What the repository adds at the end is asked for when it is published.
  const worded = { ...work, footer: statedText(work.stated) };
  const { title, body } = prHash === null ? wholeText(worded, UNKNOWN_IDS) : namedText(worded, UNKNOWN_IDS);
  const count = Math.min(commits.length, mostMessages);
  return {
    repository: target,
    /** The branch that it is for. */
    base: base.name.slice('refs/heads/'.length),
    /** The hash of the pull request that it is to update; null: it opens one. */
    updates: prHash,
    isDraft: isDraft && prHash === null,
    /** Null: that of the open pull request stays as it is. */
    title: title === null ? null : shown(title),
    description: body === null ? null : shown(body),
    commitCount: commits.length,
    /** The first ones, oldest first. */
    messages: Array.from({ length: count }, (_, number) => {
      const { encoding, message: planned } = commits.at(number);
      const message = withIds(planned, UNKNOWN_IDS.idOf);
      const plain = decodeEscaped(message);
      const encoded = decodedMessage({ encoding, message });
      const isOther = encoding !== null && encoded !== plain;
      /** `encoded`: the text that its bytes have in its encoding, if they have another one in UTF-8. */
      return { ...shown(plain), encoding, encoded: isOther ? shown(encoded) : null };
    }),
  };
}
