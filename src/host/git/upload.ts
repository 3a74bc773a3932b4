/**
 * One push to the host: written while it is produced, so that nothing of its size is held; and why
 * it was refused.
 */
import { concatBytes } from '../../git/bytes.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { encodeCommandList } from '../../git/wire/push-request.ts';
import { type Failure, HostError } from '../../words/host-error.ts';
import { hostLines, hostText } from '../../words/host-text.ts';
import { within } from '../../isolate/within.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { TimedWriter } from '../../streams/timed-writer.ts';
import type { GitTransport, PushReport } from './git-transport.ts';

/** From the last byte sent to the report. In this time the host checks every object. */
const REPORT_TIMEOUT_MS = 120_000;
/** For a small pack, which needs no time: then the host hangs, and somebody waits. */
const SHORT_REPORT_TIMEOUT_MS = 60_000;
const SHORT_BYTES = 1024 * 1024;
/** How long to wait for the host's reason after it has stopped reading. */
const EARLY_ANSWER_MS = 1_000;

export interface UploadTarget {
  readonly repository: RepositoryName;
  readonly refName: string;
  /** The service's own: never a client's. */
  readonly pushOptions?: readonly string[];
  readonly oldTip: Oid;
  readonly newTip: Oid;
}

const stopped = (): Error => new HostError('unreachable', 'The code host stopped reading.');

/**
 * Commands, then the pack, which is read no faster than the host accepts data. A host that stops
 * reading for too long, or answers before it has read everything, ends it.
 * @throws HostError; after `unreachable` nobody knows what happened.
 */
export async function upload(
  transport: GitTransport,
  { repository, refName, pushOptions, oldTip, newTip }: UploadTarget,
  pack: AsyncIterable<Uint8Array>,
  writeTimeoutMs: number,
): Promise<PushReport> {
  const { readable, writable } = new IdentityTransformStream();
  const report = transport.push(repository, readable, pushOptions === undefined ? 'push' : 'offer');
  const writer = new TimedWriter(writable, writeTimeoutMs);
  // They leave with the first bytes of the pack.
  const commands = encodeCommandList({ oldId: oldTip, newId: newTip, refName }, pushOptions);
  let sentBytes = 0;
  /** False: the host has stopped reading. */
  const send = async (): Promise<boolean> => {
    for await (const piece of pack) {
      const bytes = sentBytes === 0 ? concatBytes([commands, piece]) : piece;
      sentBytes += bytes.byteLength;
      if (!(await writer.write(bytes))) return false;
    }
    return writer.close();
  };
  const failed = report.then(() => new Promise<never>(() => {}));
  const sending = send();
  try {
    if (await Promise.race([sending, failed])) {
      const patienceMs = sentBytes <= SHORT_BYTES ? SHORT_REPORT_TIMEOUT_MS : REPORT_TIMEOUT_MS;
      return await within(patienceMs, report, stopped);
    }
    // A host that refuses a pack stops reading it, and sends an answer that says why.
    const { unpackStatus } = await within(EARLY_ANSWER_MS, report, stopped);
    throw new HostError('refused', `The code host says: ${hostText(unpackStatus)}`);
  } catch (error) {
    // The host gets an incomplete pack, and discards it. Nobody else reads the spool before this
    // has stopped.
    await writer.abort();
    await sending.catch(() => {});
    throw error;
  }
}

/**
 * Why receive-pack refused a push. Known reasons are told in our words: in GitHub's are ids that
 * nobody has, pages of the bot, and commands that do not help.
 */

const MOST_FILES = 10;
/** As much of the host's lines is read. */
const MOST_CHARACTERS = 20_000;

/**
 * A fault of the host, or another push at the same moment: ship-studio/ship-studio#678,
 * isaacs/github#1741. The hook is Git's word for Gitea's own failure in opening a pull request
 * (AGit flow).
 */
const MOMENTARY =
  /internal server error|^failure$|cannot lock ref|failed to (?:lock|update ref)|fail(?:ed)? to run proc-receive hook/i;
/**
 * For the operator: a token without that scope (oiooj in categraf#34), or the address in commits.
 */
const OURS = /without `workflow` scope|email privacy restrictions/;
/** An object that only the bot has. */
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

/** What a refusal means, in lines for the person. Null: the host has accepted the push. */
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
    // A page is for the bot.
    ...hostLines(
      messages.replaceAll(/^.*$/gm, (line) => (line.includes('://') ? '' : line.replace(ID, '…'))),
    ).map((line) => `  ${line}`),
    ...(means.lasts === 'moment' ? ['Push the same commits again later. The service continues there.'] : []),
  ];
  const error = new HostError('refused', 'The code host refused the commits.', undefined, means);
  return { lines: known?.lines(messages) ?? own, error };
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

/**
 * Bases of deltas are missing while it unpacks; other objects when it checks the branch afterwards.
 */
export function lacksObjects({ unpackStatus, commandStatuses }: PushReport): boolean {
  return unpackStatus !== 'ok' || commandStatuses.some(({ reason }) => reason?.startsWith('missing'));
}
