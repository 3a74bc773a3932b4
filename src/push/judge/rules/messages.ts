/** Rules for commit messages, which become public byte for byte. */
import { pullRequestText } from '../../../git/objects/commit-message.ts';
import { signOffLine } from '../../../git/objects/sign-offs.ts';
import { shown, told } from '../../../leaks/lines.ts';
import { MAX_READ_BYTES, peopleNamedIn } from '../../../leaks/messages.ts';
import { mayBeLoud, noiseInMessage } from '../../../text/noise.ts';
import { type Finding, say, warn, warnAt } from '../../../words/finding.ts';
import { oneLine } from '../../../words/host-text.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';
import { newestCommit } from '../work.ts';

/** Refuses what hosts would (git-fsck, `nulInCommit`), naming an id that nobody has. */
export function nulCharacters({ plan }: Pick<Known, 'plan'>): readonly Finding[] {
  for (const message of plan.messages) {
    if (!message.includes(0)) continue;
    const title = oneLine(pullRequestText({ encoding: null, message }).title);
    throw new Refusal('not-rewritable', 'a message holds a NUL character', [
      `Code hosts refuse such commits. Change the message of "${title}": "git commit --amend" or "git rebase -i".`,
    ]);
  }
  return [];
}

export function peopleNamed({ plan, pushed, bot }: Pick<Known, 'plan' | 'pushed' | 'bot'>): Finding[] {
  const signOff = pushed.isSignedOff ? signOffLine(bot) : null;
  const { lines, areOthers } = peopleNamedIn(plan.messages, signOff);
  return areOthers ? say('people', ...lines) : warn('people', ...lines);
}

/**
 * Warns of messages that would disturb people. Hosts read no Markdown in messages. Its cost is
 * linear, and bounded.
 */
export function loudMessages({
  pushed: { commits },
  destination: { born },
  circumstances: { settings },
}: Pick<Known, 'pushed' | 'destination' | 'circumstances'>): Finding[] {
  const where = { hostUrl: settings.hostUrl, repository: born.repository };
  const titles: string[] = [];
  let bytesLeft = MAX_READ_BYTES;
  for (const { encoding, message } of commits) {
    const read = message.bytes.subarray(0, bytesLeft);
    if (mayBeLoud(read)) {
      const { title, body } = pullRequestText({ encoding, message: read });
      if (noiseInMessage(`${title}\n${body}`, where) !== null) titles.push(title);
    }
    bytesLeft -= message.bytes.byteLength;
    if (bytesLeft <= 0) break;
  }
  const heading =
    'Your commit messages become public as they are. These mention many people, or refer to many things in other repositories:';
  return warnAt('loud-messages', titles, ...told(heading, titles.map(shown)));
}

/** Says that the squashed commit has another message than the tip. */
export function squashedMessage({
  work: { commits },
  received: { options },
}: Pick<Known, 'work' | 'received'>): Finding[] {
  const isOther =
    options.squash && options.title === null && newestCommit(commits).oid !== commits.at(-1)?.oid;
  const line = 'The squashed commit has the message of your newest commit that is not a merge.';
  return isOther ? say('squash', line) : [];
}
