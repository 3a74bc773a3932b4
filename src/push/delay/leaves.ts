/** What the operator reads of a delayed push: what would leave with it, as text. Nothing in it tells who has pushed. */
import { decodeEscaped } from '../../git/bytes.ts';
import { decodedMessage } from '../../git/objects/commit-message.ts';
import { ZERO_OID } from '../../git/objects/oid.ts';
import { withIds } from '../../git/objects/planned-commits.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { namedText, statedText, wholeText } from '../verdict/verdict.ts';
import type { KeptPush } from './kept-push.ts';

export interface ShownText {
  readonly text: string;
  /** How many characters more it has. */
  readonly missing: number;
}

export interface ShownMessage extends ShownText {
  /** As the commit names it; null: UTF-8. */
  readonly encoding: string | null;
  /** The text that its bytes have in that encoding, if that is another one than they have in UTF-8; else null. */
  readonly encoded: ShownText | null;
}

export interface LeavingTexts {
  readonly repository: RepositoryName;
  /** The branch that it is for. */
  readonly base: string;
  /** The hash of the pull request that it is to update; null: it opens one. */
  readonly updates: string | null;
  readonly isDraft: boolean;
  /** Null: that of the open pull request stays as it is. */
  readonly title: ShownText | null;
  readonly description: ShownText | null;
  /** The first ones, oldest first. */
  readonly messages: readonly ShownMessage[];
  readonly commitCount: number;
}

export interface TextLimits {
  readonly mostMessages: number;
  /** Characters of each text. */
  readonly longest: number;
}

/** The id of a commit follows from when it is published, so texts that name one have zeros there. */
const UNKNOWN_IDS = { idOf: () => ZERO_OID };

export function textsLeaving(
  { target, work }: Pick<KeptPush, 'target' | 'work'>,
  { mostMessages, longest }: TextLimits,
): LeavingTexts {
  const { base, prHash, commits, isDraft } = work;
  // What the repository adds at the end is asked for when it is published.
  const worded = { ...work, footer: statedText(work.stated) };
  const { title, body } = prHash === null ? wholeText(worded, UNKNOWN_IDS) : namedText(worded, UNKNOWN_IDS);
  const shown = (text: string): ShownText => begun(text, longest);
  const messages: ShownMessage[] = [];
  for (let number = 0; number < Math.min(commits.length, mostMessages); number++) {
    const { encoding, message } = commits.at(number);
    const bytes = withIds(message, UNKNOWN_IDS.idOf);
    const [plain, encoded] = [decodeEscaped(bytes), decodedMessage({ encoding, message: bytes })];
    messages.push({
      ...shown(plain),
      encoding,
      encoded: encoding === null || encoded === plain ? null : shown(encoded),
    });
  }
  return {
    repository: target,
    base: base.name.slice('refs/heads/'.length),
    updates: prHash,
    isDraft: isDraft && prHash === null,
    title: title === null ? null : shown(title),
    description: body === null ? null : shown(body),
    messages,
    commitCount: commits.length,
  };
}

function begun(text: string, longest: number): ShownText {
  return { text: text.slice(0, longest), missing: Math.max(0, text.length - longest) };
}
