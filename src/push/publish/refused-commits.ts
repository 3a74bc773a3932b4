/**
 * Why receive-pack did not take the commits, as the person can use it. GitHub's own lines name ids of commits that the
 * person does not have, pages that only the bot may open, and commands that reach only the person's own repository.
 */
import type { PushReport } from '../../host/git/git-transport.ts';
import { type Failure, HostError } from '../../host-error.ts';
import { hostLines, hostText } from '../../host-text.ts';
import { Refusal } from '../reply/refusal.ts';

const MOST_FILES = 10;
/** As much of the host's lines is read. */
const MOST_CHARACTERS = 20_000;

/**
 * A fault of the host, or another push at the same moment: ship-studio/ship-studio#678, isaacs/github#1741. The hook is
 * Git's word for Gitea's own failure in opening a pull request (AGit flow).
 */
const MOMENTARY =
  /internal server error|^failure$|cannot lock ref|failed to (?:lock|update ref)|fail(?:ed)? to run proc-receive hook/i;
/** A token without that scope, which the operator must give it: oiooj in categraf#34. */
const WITHOUT_SCOPE = /without `workflow` scope/;
/** An object that only the bot has. */
const ID = /\b[\da-f]{40}\b/g;

const REWRITE = 'Take it out of every commit that has it ("git rebase -i"), then push again.';

interface KnownRefusal {
  readonly when: RegExp;
  readonly lines: (messages: string) => readonly string[];
}

const KNOWN: readonly KnownRefusal[] = [
  // GH013, push protection: palxiao/poster-design#140, Commando-X/vuln-bank#53.
  {
    when: /push cannot contain secrets/i,
    lines: (messages) => [
      'The code host takes no secrets, and found some in your commits:',
      ...files(messages, /^ *(?:—— (?<note>[^—]+) ——|path: (?<file>.+))/),
      REWRITE,
      'If the secret is real, revoke it: whoever has seen it can use it.',
    ],
  },
  // GH001: sanskrit-lexicon/COLOGNE#365, evalEmpire/gitpan#110.
  {
    when: /exceeds GitHub's file size limit/i,
    lines: (messages) => [
      'The code host does not take files of this size:',
      ...files(messages, /^(?:error: )?File (?<file>.+) is (?<note>\d{1,6}[.]\d\d [KMG]B); this exceeds/),
      REWRITE,
    ],
  },
  // GH008: git-lfs/git-lfs#3231, sinbad/lfs-folderstore#13.
  {
    when: /unknown Git LFS object/i,
    lines: () => [
      'Your commits name files that are kept in Git LFS, and the code host does not have them.',
      'This service cannot send them there. "git lfs ls-files" lists them.',
      'Leave them out of your commits, or commit them without LFS: "git lfs untrack", then "git add --renormalize".',
    ],
  },
];

/** Null: the host has accepted the push. */
export function refusedCommits({ unpackStatus, commandStatuses, ...told }: PushReport): Refusal | null {
  const messages = told.messages.slice(0, MOST_CHARACTERS);
  const [status] = commandStatuses;
  const ofBranch = status === undefined ? 'no answer for the branch' : status.reason;
  const reason = unpackStatus === 'ok' ? ofBranch : `unpack ${unpackStatus}`;
  if (reason === null) return null;
  const words = [reason, messages].join('\n');
  const known = KNOWN.find(({ when }) => when.test(words));
  const means: Partial<Failure> = MOMENTARY.test(reason)
    ? { lasts: 'moment', whose: 'theirs' }
    : { whose: WITHOUT_SCOPE.test(words) ? 'ours' : 'person' };
  const own = [
    `The code host says: ${hostText(reason)}`,
    // A page is for the bot.
    ...hostLines(
      messages.replaceAll(/^.*$/gm, (line) => (line.includes('://') ? '' : line.replace(ID, '…'))),
    ).map((line) => `  ${line}`),
    ...(means.lasts === 'moment' ? ['Push the same commits again later. The service continues there.'] : []),
  ];
  const cause = new HostError('refused', 'The code host refused the commits.', undefined, means);
  return new Refusal('push', 'the code host refused the commits', known?.lines(messages) ?? own, { cause });
}

/** Each file with what is said of it, which may stand before it. */
function files(messages: string, place: RegExp): string[] {
  let note = '';
  const found: string[] = [];
  for (const line of messages.split('\n')) {
    const { groups } = place.exec(line) ?? {};
    note = groups?.['note'] ?? note;
    if (groups?.['file'] !== undefined) found.push(`  ${hostText(groups['file'])} (${hostText(note)})`);
  }
  return [...new Set(found)].slice(0, MOST_FILES);
}
