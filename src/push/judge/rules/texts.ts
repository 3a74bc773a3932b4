/** Rules for the title and the description of the pull request. */
import { pullRequestText } from '../../../git/objects/commit-message.ts';
import { readMarkdown } from '../../../text/markdown.ts';
import { noiseProblem } from '../../../text/noise.ts';
import { newestOf, pushedText, UNKNOWN_IDS } from '../../../text/pull-request-text.ts';
import { type Finding, say, warn } from '../../../words/finding.ts';
import { oneLine } from '../../../words/host-text.ts';
import { missingKey } from '../../push-run.ts';
import { Refusal } from '../../reply/refusal.ts';
import type { Known } from '../known.ts';

/** Refuses a text that would notify too many people. */
export function noise({
  pushed,
  destination: { open, born, updates },
  circumstances: { settings },
}: Pick<Known, 'pushed' | 'destination' | 'circumstances'>): readonly Finding[] {
  const push = { ...pushed, footer: open?.footer ?? '' };
  const { title, body } = pushedText(push, UNKNOWN_IDS, updates);
  const texts = { title: readMarkdown(title ?? ''), description: readMarkdown(body ?? '') };
  const problem = noiseProblem(texts, { hostUrl: settings.hostUrl, repository: born.repository });
  if (problem === null) return [];
  throw new Refusal('noise', 'the pull request would disturb too many people', [
    `Its ${problem}.`,
    'Title and description come from the message of the newest commit. To replace them, push again with',
    '-o title=... or -o description=...',
  ]);
}

/** Says which options change nothing, because an open pull request is updated. */
export function idleOptions({
  pushed: { isDraft, stated, description },
  destination: { updates },
}: Pick<Known, 'pushed' | 'destination'>): Finding[] {
  if (!updates) return [];
  const isUnsaid = description === null && (stated.ai ?? stated.issue) !== null;
  return [
    ...(isDraft ? say('draft', 'The option draft changes nothing: this pull request is open already.') : []),
    ...(isUnsaid
      ? say('stated', 'The options ai and issue change nothing without -o description=<line>.')
      : []),
  ];
}

/** Points to the repository's template, if a new pull request has no description. */
export function missingDescription({
  pushed: { description, commits },
  destination: { updates, born },
  place,
  circumstances: { settings },
}: Pick<Known, 'pushed' | 'destination' | 'place' | 'circumstances'>): Finding[] {
  const template = place?.policy?.community.template ?? null;
  if (updates || template === null || description !== null) return [];
  const { encoding, message } = newestOf(commits);
  // A sign-off is no description.
  if (/^(?!Signed-off-by:).*\S/im.test(pullRequestText({ encoding, message: message.bytes }).body)) return [];
  const url = settings.fileUrl(born.repository, template);
  return say(
    'description',
    `Your pull request has no description, and there is a template: ${url}. Give one: -o description=<line>, once for each line.`,
  );
}

/** Warns of a title in an encoding that the commit does not name, or that nobody here knows. */
export function unreadableTitle({
  pushed: { title, commits },
  destination: { updates },
}: Pick<Known, 'pushed' | 'destination'>): Finding[] {
  const { encoding, message } = newestOf(commits);
  // U+FFFD stands for what could not be read.
  if (updates || title !== null) return [];
  if (!pullRequestText({ encoding, message: message.bytes }).title.includes('\ufffd')) return [];
  const why =
    encoding === null ? 'is not UTF-8' : `is in ${oneLine(encoding)}, which the service cannot read`;
  return warn(
    'title',
    `The title is not readable: the message of your commit ${why}. Give another one: -o title=<title>`,
  );
}

/** Says under which name the commits are signed off. */
export function signing({ pushed: { isSignedOff }, bot: { name, email } }: Pick<Known, 'pushed' | 'bot'>) {
  const line = `This push signs off every commit as ${name} <${email}> (Developer Certificate of Origin 1.1).`;
  return isSignedOff ? say('signing', line) : [];
}

/** Refuses other texts for an open pull request from whoever has no key, where nobody was asked. */
export function keyForLaterTexts({
  place,
  received: { options },
  destination: { updates },
}: Pick<Known, 'place' | 'received' | 'destination'>): Finding[] {
  const changesTexts = options.title !== null || options.description !== null;
  const lacksKey = place === null && updates && changesTexts && options.prKey === null;
  return lacksKey ? [missingKey('texts')] : [];
}
