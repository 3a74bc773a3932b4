/** `-o preview`: what a push would publish. */
import type { AnonymousCommits, DateOf } from '../../git/objects/anonymize.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import { withIds } from '../../git/objects/planned-commits.ts';
import { fullName } from '../../repository-name.ts';
import type { Preview } from '../reply/refusal.ts';
import { isUpdate, type Publishable, wholeText } from './verdict.ts';

/** More are counted, not shown. */
const MAX_COMMITS_SHOWN = 50;
const MAX_BODY_LINES_SHOWN = 20;

export interface Previewed extends Pick<Preview, 'refusal'> {
  readonly botLogin: string;
  readonly dateOf: DateOf;
  /** Of the pack as it would be sent. */
  readonly bytes: number;
  /** What the search for names has found, or that nobody searches. */
  readonly report: readonly string[];
  readonly warnings: readonly string[];
}

export function previewOf(push: Publishable, anonymous: AnonymousCommits, previewed: Previewed): Preview {
  const { botLogin: author, dateOf, bytes, report, warnings, refusal } = previewed;
  const { title, body } = wholeText(push, anonymous);
  const objectCount = anonymous.size + push.entryCount;
  const count = push.commits.length;
  const remarks = [...report, ...warnings];
  const lines = [
    ...(refusal === null
      ? []
      : [`This push would be refused: ${refusal}. With -o publish-names, this would become public:`]),
    isUpdate(push)
      ? `This push would update the pull request ${push.named?.pullRequest.url ?? ''}:`
      : `This push would open a pull request${push.isDraft ? ' as a draft' : ''}:`,
    '',
    `  Repository:  ${fullName(push.repository)}`,
    `  Base:        ${push.base.name.slice('refs/heads/'.length)}`,
    `  Title:       ${title}`,
    ...(body === '' ? ['  Description: (none)'] : ['  Description:', ...shownLines(body)]),
    '',
    `Its ${count === 1 ? 'commit' : `${count} commits`}, by ${author}:`,
    ...commitLines(push, anonymous, dateOf),
    ...(count > MAX_COMMITS_SHOWN ? [`  and ${count - MAX_COMMITS_SHOWN} more`] : []),
    '',
    `${objectCount === 1 ? '1 object' : `${objectCount} objects`}, ${bytes} bytes, would be sent.`,
    ...remarks,
  ];
  return { lines, author, title, body, remarks, refusal };
}

function shownLines(body: string): string[] {
  const lines = body.split('\n');
  const rest = lines.length - MAX_BODY_LINES_SHOWN;
  const shown = lines.slice(0, MAX_BODY_LINES_SHOWN).map((line) => `    ${line}`);
  return rest > 0 ? [...shown, `    and ${rest} more lines`] : shown;
}

function* commitLines(
  { commits }: Publishable,
  { idOf }: AnonymousCommits,
  dateOf: DateOf,
): Generator<string> {
  const shown = Math.min(commits.length, MAX_COMMITS_SHOWN);
  for (let number = 0; number < shown; number++) {
    const { encoding, message } = commits.at(number);
    const date = new Date(dateOf(number) * 1000).toISOString().slice(0, 19).replace('T', ' ');
    const { title } = pullRequestText({ encoding, message: withIds(message, idOf) });
    yield `  ${idOf(number).slice(0, 10)}  ${date} UTC  ${title}`;
  }
}
