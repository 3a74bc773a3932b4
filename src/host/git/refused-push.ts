/**
 * Explains why receive-pack refused a push. Known reasons are told in the service's own words:
 * GitHub's contain ids that nobody else has, pages for the bot, and commands that do not help.
 */
import { type Failure, HostError } from '../../words/host-error.ts';
import { hostLines, hostText } from '../../words/host-text.ts';
import type { PushReport } from './git-answers.ts';

const MOST_FILES = 10;
/** Maximum length that is read of the host's lines. */
const MOST_CHARACTERS = 20_000;

/**
 * Matches a fault of the host, or a conflict with another push: ship-studio/ship-studio#678,
 * isaacs/github#1741. The hook is Git's word for Gitea's own failure to open a pull request (AGit
 * flow).
 */
const MOMENTARY =
  /internal server error|^failure$|cannot lock ref|failed to (?:lock|update ref)|fail(?:ed)? to run proc-receive hook/i;
/**
 * Matches reasons for the operator: a token without the scope `workflow` (oiooj in categraf#34), or
 * the address in commits.
 */
const OURS = /without `workflow` scope|email privacy restrictions/;
/** Matches the id of an object that only the bot has. */
const ID = /\b[\da-f]{40}\b/g;

const REWRITE = 'Take it out of every commit that has it ("git rebase -i"), then push again.';

const KNOWN: readonly { readonly when: RegExp; readonly lines: (messages: string) => string[] }[] = [
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
  // GH007: lumen-notes/lumen#436, abapGit/abapGit#1363.
  {
    when: /email privacy restrictions/i,
    lines: () => [
      'The code host keeps the address private that this service writes into every commit. Your commits are fine.',
      'Tell the operator: ANON_EMAIL must be no private address of an account there.',
    ],
  },
  // A hook, or a rule for the fields of commits: github/platform-samples#151; docs.github.com,
  // "Available rules for rulesets", "Metadata restrictions".
  {
    when: /(?:author|committer)(?:'s)? e-?mail|contributor licen[cs]e agreement/i,
    lines: () => [
      'The repository takes commits only of authors whom it knows, for example by a licence agreement.',
      'This service names none, so nothing can be contributed there through it.',
      'Somebody whom its maintainers know can adopt your change: give them a patch ("git format-patch origin/HEAD"), without your name in it.',
    ],
  },
];

/**
 * Explains a refusal in lines for the person.
 * @returns null if the host has accepted the push.
 */
export function refusedPush({
  unpackStatus,
  commandStatuses,
  ...told
}: PushReport): { readonly lines: readonly string[]; readonly error: HostError } | null {
  const messages = told.messages.slice(0, MOST_CHARACTERS);
  const [{ reason: ofBranch } = { reason: 'no answer for the branch' }] = commandStatuses;
  const reason = unpackStatus === 'ok' ? ofBranch : `unpack ${unpackStatus}`;
  if (reason === null) return null;
  const words = [reason, messages].join('\n');
  const known = KNOWN.find(({ when }) => when.test(words));
  const means: Partial<Failure> = MOMENTARY.test(reason)
    ? { lasts: 'moment', whose: 'theirs' }
    : { whose: OURS.test(words) ? 'ours' : 'person' };
  const own = [
    `The code host says: ${hostText(reason)}`,
    // Pages are for the bot.
    ...hostLines(
      messages.replaceAll(/^.*$/gm, (line) => (line.includes('://') ? '' : line.replace(ID, '…'))),
    ).map((line) => `  ${line}`),
    ...(means.lasts === 'moment' ? ['Push the same commits again later. The service continues there.'] : []),
  ];
  const error = new HostError('refused', 'The code host refused the commits.', undefined, means);
  return { lines: known?.lines(messages) ?? own, error };
}

/** Lists each file with its note, which may stand before it. */
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

/**
 * Tells if the host may lack objects: it could not unpack, perhaps for want of the bases of deltas,
 * or it misses objects when it checks the branch afterwards.
 */
export function lacksObjects({ unpackStatus, commandStatuses }: PushReport): boolean {
  return unpackStatus !== 'ok' || commandStatuses.some(({ reason }) => reason?.startsWith('missing'));
}
