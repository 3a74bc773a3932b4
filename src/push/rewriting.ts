/**
 * What one push makes of its new commits: whose name they get, which date, and whether they become one.
 *
 * A commit that was rewritten for this pull request before keeps the date of that time, and with it its id, provided
 * that its parents are the same: reviewers see only what is new. It is recognised by what is public of it. Its original
 * id would do, too, but an id is a hash over name and dates: whoever knows the pr_hash could push guesses at them, many
 * at once, and see which one keeps its date.
 */
import { createHash } from 'node:crypto';
import { COMMIT_HASH_BYTES, type DatedCommits } from '../durable/pull-request/record.ts';
import { anonymizeCommits } from '../git/anonymize.ts';
import type { Commit, Identity } from '../git/commit.ts';
import type { NewCommit } from '../git/new-commits.ts';
import type { Oid } from '../git/oid.ts';
import { warningOfNames } from './message-names.ts';
import { Refusal } from './refusal.ts';

export interface RewritePlan {
  readonly identity: Identity;
  /** Seconds since 1970: the date of all commits that have none yet. */
  readonly committedAt: number;
  readonly known: readonly DatedCommits[];
  /** The message of the one commit that takes the place of all; null: they stay apart. */
  readonly squash: ((tip: Commit) => Pick<Commit, 'message' | 'encoding'>) | null;
}

export interface RewrittenHistory {
  readonly tip: Oid;
  /** The pushed tip as it was read: its message becomes the pull request's text. */
  readonly tipCommit: Commit;
  readonly commitCount: number;
  /** Upstream's commits that the new ones stand on. */
  readonly ground: ReadonlySet<Oid>;
  /** Lines for the person about who is named in the messages. */
  readonly warning: readonly string[];
  /** What got its date now. */
  readonly dates: () => DatedCommits;
}

export interface Rewritten {
  readonly history: RewrittenHistory;
  /** Contents of the new commits, each once: not to be kept for longer than they are needed. */
  readonly contents: readonly Uint8Array[];
}

const HASH_HEX_LENGTH = 2 * COMMIT_HASH_BYTES;

/**
 * @param commits parents before children, at least one.
 * @throws Refusal if they cannot become one.
 */
export function rewriteHistory(
  plan: RewritePlan,
  commits: readonly NewCommit[],
  ground: ReadonlySet<Oid>,
): Rewritten {
  const { identity, committedAt } = plan;
  const last = commits.at(-1) as NewCommit;
  const sent = plan.squash === null ? commits : [squashed(last, ground, plan.squash(last.commit))];
  const hashes = publicHashes(sent);
  const known = datesByHash(plan.known);
  const dateOf = (oid: Oid): number => known.get(hashes.get(oid) ?? '') ?? committedAt;
  const { tip, contents } = anonymizeCommits(sent, identity, dateOf);
  const history: RewrittenHistory = {
    tip,
    tipCommit: last.commit,
    commitCount: sent.length,
    ground,
    warning: warningOfNames(sent.map(({ commit }) => commit.message)),
    dates: () => {
      const added = [...new Set(hashes.values())].filter((hash) => !known.has(hash));
      return { committedAt, commitHashes: new Uint8Array(Buffer.from(added.join(''), 'hex')) };
    },
  };
  return { history, contents };
}

/** Of each commit by its original id: a hash of its files, its message, and what it stands on. */
function publicHashes(commits: readonly NewCommit[]): ReadonlyMap<Oid, string> {
  const hashes = new Map<Oid, string>();
  for (const { oid, commit } of commits) {
    const parents = commit.parents.map((parent) => hashes.get(parent) ?? parent);
    const hash = createHash('sha256')
      .update(JSON.stringify([commit.tree, parents, commit.encoding]))
      .update(commit.message)
      .digest('hex');
    hashes.set(oid, hash.slice(0, HASH_HEX_LENGTH));
  }
  return hashes;
}

/** The earliest date of each: that is the one it was published with. */
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

/** The tip's files as one change of the commit that the push stands on. */
function squashed(
  { oid, commit }: NewCommit,
  ground: ReadonlySet<Oid>,
  text: Pick<Commit, 'message' | 'encoding'>,
): NewCommit {
  // With several, as after a merge of upstream, it could undo what one of them has and another has not.
  if (ground.size !== 1) {
    throw new Refusal('the commits cannot be squashed', [
      'They stand on more than one commit of upstream, or on none.',
      'Rebase them instead of merging, or push without "-o squash".',
    ]);
  }
  return { oid, commit: { ...commit, ...text, parents: [...ground] } };
}
