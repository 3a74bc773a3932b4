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

export interface Previewed {
  readonly push: Publishable;
  readonly botLogin: string;
  readonly anonymous: AnonymousCommits;
  readonly dateOf: DateOf;
  /** Of the pack as it would be sent. */
  readonly bytes: number;
  /** What the search for names has found, or that nobody searches. */
  readonly findings: readonly string[];
  readonly warnings: readonly string[];
  /** Why the push would be refused; null: it would not. */
  readonly refusal: string | null;
}

export function previewOf(previewed: Previewed): Preview {
  const { push, botLogin, anonymous, bytes, findings, warnings, refusal } = previewed;
  const { title, body } = wholeText(push, anonymous);
  const objectCount = anonymous.size + push.entryCount;
  const count = push.commits.length;
  const refused =
    refusal === null
      ? []
      : [`This push would be refused: ${refusal}. With -o publish-names, this would become public:`];
  const remarks = [...findings, ...warnings];
  const lines = [
    ...refused,
    isUpdate(push)
      ? `This push would update the pull request ${push.named?.pullRequest.url ?? ''}:`
      : `This push would open a pull request${push.isDraft ? ' as a draft' : ''}:`,
    '',
    `  Repository:  ${fullName(push.repository)}`,
    `  Base:        ${push.base.name.slice('refs/heads/'.length)}`,
    `  Title:       ${title}`,
    ...bodyLines(body),
    '',
    `Its ${count === 1 ? 'commit' : `${count} commits`}, by ${botLogin}:`,
    ...commitLines(previewed),
    ...(count > MAX_COMMITS_SHOWN ? [`  and ${count - MAX_COMMITS_SHOWN} more`] : []),
    '',
    `${objectCount === 1 ? '1 object' : `${objectCount} objects`}, ${bytes} bytes, would be sent.`,
    ...remarks,
  ];
  return { lines, author: botLogin, title, body, remarks, refusal };
}

function bodyLines(body: string): string[] {
  if (body === '') return ['  Description: (none)'];
  const lines = body.split('\n');
  const shown = lines.slice(0, MAX_BODY_LINES_SHOWN).map((line) => `    ${line}`);
  const rest = lines.length - shown.length;
  return ['  Description:', ...shown, ...(rest > 0 ? [`    and ${rest} more lines`] : [])];
}

function* commitLines({ push, anonymous, dateOf }: Previewed): Generator<string> {
  const shown = Math.min(push.commits.length, MAX_COMMITS_SHOWN);
  for (let number = 0; number < shown; number++) {
    const { encoding, message } = push.commits.at(number);
    const date = new Date(dateOf(number) * 1000).toISOString().slice(0, 19).replace('T', ' ');
    const { title } = pullRequestText({ encoding, message: withIds(message, anonymous.idOf) });
    yield `  ${anonymous.idOf(number).slice(0, 10)}  ${date} UTC  ${title}`;
  }
}
