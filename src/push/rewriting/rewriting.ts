/**
 * How one push rewrites its new commits: their name, their dates, and whether they become one.
 *
 * A commit that was already rewritten for this pull request keeps the date it got then. If its parents are the same, it
 * also keeps its id, so reviewers see only what is new. The commit is recognised by its public parts, and not by its
 * original id: an id is a hash over name and dates, so anyone who knows the pr_hash could push many guesses at once and
 * see which one keeps its date.
 */
import { COMMIT_HASH_BYTES, type DatedCommits } from '../../durable/pull-request/record.ts';
import { anonymizeCommits } from '../../git/anonymize.ts';
import type { ByteArrays } from '../../git/byte-arrays.ts';
import type { Commit, Identity } from '../../git/commit.ts';
import { pullRequestText } from '../../git/commit-message.ts';
import type { NewCommit, NewCommits } from '../../git/new-commits.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import type { OidMap } from '../../git/oid-map.ts';
import { type Mentions, orderByMentions, OwnIds, replaceMentions } from '../../git/own-ids.ts';
import { utf8 } from '../../git/bytes.ts';
import { sha256Start } from '../../git/sha256.ts';
import { PublicHashes } from './public-hashes.ts';
import { Refusal } from '../reply/refusal.ts';

export interface RewritePlan {
  readonly identity: Identity;
  /** Seconds since 1970: the date of all commits that have none yet. */
  readonly committedAt: number;
  readonly known: readonly DatedCommits[];
  /** Null if the commits are not squashed. */
  readonly squash: SquashPlan | null;
}

/** How all new commits become one. */
export interface SquashPlan {
  /** The message of the one commit. */
  message(tip: Commit): Pick<Commit, 'message' | 'encoding'>;
  /** The upstream commit that contains all others of them; null if there is none. */
  newestOf(ground: ReadonlySet<Oid>): Promise<Oid | null>;
}

/** A new commit as people see it in a list. */
export interface RewrittenCommit {
  readonly oid: Oid;
  /** Seconds since 1970. */
  readonly committedAt: number;
  readonly subject: string;
}

export interface RewrittenHistory {
  readonly tip: Oid;
  /** The pushed tip with its new message, which becomes the pull request's text. */
  readonly tipCommit: Commit;
  readonly commitCount: number;
  /** Ids of the pushed commits that no new commit has. They are found anew each time. */
  readonly originalIds: Iterable<Oid>;
  /** The upstream commits that the new ones are based on. */
  readonly ground: ReadonlySet<Oid>;
  /** Messages of the new commits, as they become public. They are found anew each time. */
  readonly messages: Iterable<Uint8Array>;
  /** Parents before children. */
  readonly commits: () => readonly RewrittenCommit[];
  /** The commits that got their date now. */
  readonly dates: () => DatedCommits;
  /** The text with new ids in place of original ones. */
  readonly withNewIds: (text: Uint8Array) => Uint8Array;
}

export interface Rewritten {
  readonly history: RewrittenHistory;
  /** Contents of the new commits, each once. Do not keep them longer than needed. */
  readonly contents: ByteArrays;
}

const HASH_HEX_LENGTH = 2 * COMMIT_HASH_BYTES;

/**
 * @param commits parents before children, at least one.
 * @throws Refusal if they cannot become one.
 */
export async function rewriteHistory(
  plan: RewritePlan,
  commits: NewCommits,
  ground: ReadonlySet<Oid>,
): Promise<Rewritten> {
  const { identity, committedAt } = plan;
  const last = commits.at(-1) as NewCommit;
  const ownIds = new OwnIds(idsOf(commits));
  const chosen = plan.squash === null ? commits : [await squashed(plan.squash, ownIds, last, ground)];
  const mentions = ownIds.mentionsInMessages(chosen);
  const sent = orderByMentions(chosen, mentions);
  const hashes = publicHashes(sent, mentions);
  const known = datesByHash(plan.known);
  const dateOf = (oid: Oid): number => known.get(hashes.get(oid) ?? '') ?? committedAt;
  const { renamed, contents } = anonymizeCommits(sent, identity, dateOf, mentions);
  // A commit that was squashed away has no new id.
  const newIdOf = (oid: Oid): Oid => renamed.get(oid) ?? ZERO_OID;
  const withNewIds = (text: Uint8Array) => replaceMentions(text, ownIds.mentionsIn(text), newIdOf);
  const history: RewrittenHistory = {
    tip: newIdOf(last.oid),
    tipCommit: { ...last.commit, message: withNewIds(last.commit.message) },
    commitCount: sent.length,
    originalIds: { [Symbol.iterator]: () => originalIdsOf(commits, renamed) },
    ground,
    messages: { [Symbol.iterator]: () => messagesOf(sent) },
    commits: () =>
      Array.from(sent, ({ oid, commit }) => ({
        oid: newIdOf(oid),
        committedAt: dateOf(oid),
        subject: pullRequestText({ ...commit, message: withNewIds(commit.message) }).title,
      })),
    dates: () => {
      const added = [...new Set(hashes.all())].filter((hash) => !known.has(hash));
      return { committedAt, commitHashes: new Uint8Array(Buffer.from(added.join(''), 'hex')) };
    },
    withNewIds,
  };
  return { history, contents };
}

function* idsOf(commits: NewCommits): Generator<Oid> {
  for (const { oid } of commits) yield oid;
}

/** Ids that no new commit has. */
function* originalIdsOf(commits: NewCommits, renamed: OidMap): Generator<Oid> {
  for (const { oid } of commits) if (!renamed.hasValue(oid)) yield oid;
}

function* messagesOf(commits: NewCommits): Generator<Uint8Array> {
  for (const { commit } of commits) yield commit.message;
}

/**
 * For each commit, by its original id: a hash of its files, its message and its parents. If the message mentions
 * another of the commits, that commit's hash replaces its original id.
 */
function publicHashes(commits: NewCommits, mentions: Mentions): PublicHashes {
  const hashes = new PublicHashes();
  const hashOf = (oid: Oid): string => hashes.get(oid) ?? oid;
  for (const { oid, commit } of commits) {
    const head = utf8(JSON.stringify([commit.tree, commit.parents.map(hashOf), commit.encoding]));
    const message = replaceMentions(commit.message, mentions.get(oid), (own) => hashOf(own).repeat(3));
    hashes.set(oid, sha256Start([head, message]));
  }
  return hashes;
}

/** The earliest date of each, because it was published with that one. */
function datesByHash(known: readonly DatedCommits[]): Map<string, number> {
  const dates = new Map<string, number>();
  for (const { committedAt, commitHashes } of known) {
    const hex = Buffer.from(commitHashes).toString('hex');
    for (let at = 0; at < hex.length; at += HASH_HEX_LENGTH) {
      const hash = hex.slice(at, at + HASH_HEX_LENGTH);
      if (!dates.has(hash)) dates.set(hash, committedAt);
    }
  }
  return dates;
}

/** The tip's files, as one commit on the upstream commit that the push is based on. */
async function squashed(
  plan: SquashPlan,
  ownIds: OwnIds,
  { oid, commit }: NewCommit,
  ground: ReadonlySet<Oid>,
): Promise<NewCommit> {
  // If there are several and none contains the others, the one commit could undo changes of some of them.
  const parent = ground.size > 1 ? await plan.newestOf(ground) : [...ground][0];
  if (parent === undefined || parent === null) {
    throw new Refusal('the commits cannot be squashed', [
      'They are based on several upstream commits, none of which contains the others, or on no upstream commit.',
      'Rebase them instead of merging, or push without "-o squash".',
    ]);
  }
  const text = plan.message(commit);
  const message = replaceMentions(text.message, ownIds.mentionsIn(text.message), () => ZERO_OID);
  return { oid, commit: { ...commit, ...text, message, parents: [parent] } };
}
