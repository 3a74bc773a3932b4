/**
 * The text of the pull request, and of the one commit of a squashed push: from the options, or else from the newest
 * commit.
 */
import { utf8 } from '../../git/bytes.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Commit } from '../../git/objects/commit.ts';
import {
  MAX_BODY_LENGTH,
  type PullRequestText,
  cut,
  pullRequestText,
} from '../../git/objects/commit-message.ts';
import { type PlannedText, withIds } from '../../git/objects/planned-commits.ts';
import type { PushOptions } from '../receive/push-options.ts';
import type { Publishable } from './verdict.ts';

/** What a push changes of the text of a pull request that is open; null: nothing. */
export interface NamedText {
  readonly title: string | null;
  readonly body: string | null;
}

/** The text that the options name, with new ids in place of original ones. */
export function namedText(
  { title, description, footer }: Pick<Publishable, 'title' | 'description' | 'footer'>,
  { idOf }: Pick<AnonymousCommits, 'idOf'>,
): NamedText {
  const text = (planned: PlannedText): string => Buffer.from(withIds(planned, idOf)).toString();
  return {
    title: title === null ? null : text(title),
    body: description === null ? null : withFooter(text(description), footer),
  };
}

/** The text of a new pull request. */
export function wholeText(push: Publishable, anonymous: Pick<AnonymousCommits, 'idOf'>): PullRequestText {
  const named = namedText(push, anonymous);
  const { encoding, message } = push.commits.at(push.commits.length - 1);
  const newest = pullRequestText({ encoding, message: withIds(message, anonymous.idOf) });
  return { title: named.title ?? newest.title, body: named.body ?? withFooter(newest.body, push.footer) };
}

function withFooter(body: string, footer: string): string {
  return body === '' ? footer.trimStart() : `${cut(body, MAX_BODY_LENGTH - footer.length)}${footer}`;
}

/** Without options, the tip's message byte for byte. */
export function squashedMessage(
  options: Pick<PushOptions, 'title' | 'description'>,
  tip: Pick<Commit, 'message' | 'encoding'>,
): Pick<Commit, 'message' | 'encoding'> {
  const { title, description } = options;
  if (title === null && description === null) return { message: tip.message, encoding: tip.encoding };
  const text = pullRequestText(tip);
  const whole = `${title ?? text.title}\n\n${description ?? text.body}`;
  return { message: utf8(`${whole.trimEnd()}\n`), encoding: null };
}
