/** What the operator reads of a held push: what it would publish, as text. Nothing in it tells who has pushed. */
import { cut, pullRequestText } from '../../git/objects/commit-message.ts';
import { ZERO_OID } from '../../git/objects/oid.ts';
import { withIds } from '../../git/objects/planned-commits.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { isUpdate, namedText, type Publishable, wholeText } from '../verdict/verdict.ts';

export interface ReviewedTexts {
  readonly repository: RepositoryName;
  /** The branch that it is for. */
  readonly base: string;
  /** Address of the pull request that it updates; null: it opens one. */
  readonly updates: string | null;
  readonly isDraft: boolean;
  /** Null: that of the open pull request stays as it is. */
  readonly title: string | null;
  readonly description: string | null;
  /** The first ones, oldest first. */
  readonly messages: readonly string[];
  readonly commitCount: number;
}

export interface TextLimits {
  readonly mostMessages: number;
  /** Characters of each text. */
  readonly longest: number;
}

/** The id of a commit follows from when it is published, so texts that name one have zeros there. */
const UNKNOWN_IDS = { idOf: () => ZERO_OID };

export function reviewedTexts(push: Publishable, { mostMessages, longest }: TextLimits): ReviewedTexts {
  const { repository, base, named, commits } = push;
  const text = isUpdate(push) ? namedText(push, UNKNOWN_IDS) : wholeText(push, UNKNOWN_IDS);
  const shown = (value: string | null): string | null => (value === null ? null : cut(value, longest));
  const messages: string[] = [];
  for (let number = 0; number < Math.min(commits.length, mostMessages); number++) {
    const { encoding, message } = commits.at(number);
    const { title, body } = pullRequestText({ encoding, message: withIds(message, UNKNOWN_IDS.idOf) });
    messages.push(cut(body === '' ? title : `${title}\n\n${body}`, longest));
  }
  return {
    repository,
    base: base.name.slice('refs/heads/'.length),
    updates: isUpdate(push) ? (named?.pullRequest.url ?? null) : null,
    isDraft: push.isDraft && !isUpdate(push),
    title: shown(text.title),
    description: shown(text.body),
    messages,
    commitCount: commits.length,
  };
}
