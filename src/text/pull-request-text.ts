/**
 * Makes the title and description of a pull request: from push options, or else from the newest
 * commit that is no merge, with the footer. Pure.
 */
import type { AnonymousCommits } from '../git/objects/anonymize.ts';
import {
  cut,
  MAX_BODY_LENGTH,
  type PullRequestText,
  pullRequestText,
} from '../git/objects/commit-message.ts';
import { ZERO_OID } from '../git/objects/oid.ts';
import { type PlannedCommits, withIds } from '../git/objects/planned-commits.ts';
import type { PlannedCommit, PlannedText } from '../git/objects/stored-commit.ts';
import { footerProblem } from './footer-room.ts';
import { readMarkdown } from './markdown.ts';

interface Worded {
  /** The title, like the description, that an option names; null: no option names one. */
  readonly title: PlannedText | null;
  readonly description: PlannedText | null;
  readonly commits: PlannedCommits;
  /** The end of the description; may be empty. */
  readonly footer: string;
}

/** Maps the original ids of commits to those of the anonymous ones. */
type Ids = Pick<AnonymousCommits, 'idOf'>;

/**
 * Stands for ids that are not known yet, because they depend on the time of publication: a text
 * that names a commit has zeros there.
 */
export const UNKNOWN_IDS: Ids = { idOf: () => ZERO_OID };

/**
 * Writes what a push states, for the end of the description, where maintainers can search for it.
 */
export function statedText(of: { readonly ai: string | null; readonly issue: number | null }): string {
  const lines = [of.ai && `AI disclosure: ${of.ai}`, of.issue && `Refs #${of.issue}`];
  const said = lines.filter(Boolean).join('\n');
  return said === '' ? '' : `\n\n${said}`;
}

/**
 * Makes the texts that options name, with new ids in place of original ones; null where none is
 * named: an open pull request keeps its own.
 */
export function namedText(
  { title, description, footer }: Omit<Worded, 'commits'>,
  { idOf }: Ids,
): { readonly title: string | null; readonly body: string | null } {
  const text = (planned: PlannedText | null) => planned && Buffer.from(withIds(planned, idOf)).toString();
  const body = text(description);
  return { title: text(title), body: body === null ? null : withFooter(body, footer) };
}

/** Makes the text of a new pull request. */
export function wholeText(push: Worded, ids: Ids): PullRequestText {
  const named = namedText(push, ids);
  const newest = textOf(newestOf(push.commits), ids);
  return { title: named.title ?? newest.title, body: named.body ?? withFooter(newest.body, push.footer) };
}

/**
 * Makes the text of a pull request that a push opens, or updates.
 * @param updates whether an open one keeps what is not named: null.
 */
export function pushedText(push: Worded, ids: Ids, updates: boolean): ReturnType<typeof namedText> {
  return updates ? namedText(push, ids) : wholeText(push, ids);
}

export function textOf({ encoding, message }: PlannedCommit, { idOf }: Ids): PullRequestText {
  return pullRequestText({ encoding, message: withIds(message, idOf) });
}

/** Selects the commit whose message a new pull request shows. */
export function newestOf(commits: PlannedCommits): PlannedCommit {
  return commits.at(newestWork(commits.length, (place) => commits.at(place).parents.length > 1));
}

/**
 * Gives the index of the newest commit that is not a merge, because a merge's message names
 * branches; that of the last one if all are merges.
 */
export function newestWork(count: number, isMerge: (place: number) => boolean): number {
  let place = count - 1;
  while (place > 0 && isMerge(place)) place--;
  return isMerge(place) ? count - 1 : place;
}

/** Adds the footer; in front of a body below which it might not be seen (`footerProblem`). */
function withFooter(body: string, footer: string): string {
  if (body === '') return footer.trimStart();
  if (footer === '') return cut(body, MAX_BODY_LENGTH);
  const text = cut(body, MAX_BODY_LENGTH - footer.length - 2);
  const isSafe = footerProblem(readMarkdown(text)) === null;
  return isSafe ? `${text}${footer}` : `${footer.trimStart()}\n\n${text}`;
}
