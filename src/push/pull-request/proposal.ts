/**
 * The text of the pull request, and of the one commit of a squashed push: from the options, or else from the pushed
 * commit.
 */
import { utf8 } from '../../git/bytes.ts';
import type { Commit } from '../../git/commit.ts';
import { MAX_BODY_LENGTH, type PullRequestText, cut, pullRequestText } from '../../git/commit-message.ts';
import type { PushOptions } from '../command/push-options.ts';

type TextOptions = Pick<PushOptions, 'title' | 'description'>;

/** @param footer that ends the body; may be empty. */
export function proposedText(
  { title, description }: TextOptions,
  tip: Commit,
  footer: string,
): PullRequestText {
  const text = pullRequestText(tip);
  return { title: title ?? text.title, body: withFooter(description ?? text.body, footer) };
}

export function withFooter(body: string, footer: string): string {
  return body === '' ? footer.trimStart() : `${cut(body, MAX_BODY_LENGTH - footer.length)}${footer}`;
}

/** Without options, the tip's message byte for byte. */
export function squashedMessage(options: TextOptions, tip: Commit): Pick<Commit, 'message' | 'encoding'> {
  if (options.title === null && options.description === null) return tip;
  const { title, body } = proposedText(options, tip, '');
  return { message: utf8(`${`${title}\n\n${body}`.trimEnd()}\n`), encoding: null };
}
