/**
 * The verdict on a push: what it is (Git), and what the place says (the host's interface).
 * Proved by test/push/judge/judge.test.ts.
 */
import type { Oid } from '../git/objects/oid.ts';
import type { PlannedCommits } from '../git/objects/planned-commits.ts';
import type { PlannedText } from '../git/objects/stored-commit.ts';
import type { Ref } from '../git/wire/ref-advertisement.ts';
import type { HostPullRequest, Repository } from '../host/code-host.ts';
import type { Limit } from '../limits/sliding-window.ts';
import type { Stated } from './receive/push-options.ts';

/**
 * A push as Git tells it, without name, date or original id: it can be stored (delay/kept-push.ts).
 */
export interface PushedWork {
  readonly base: Ref;
  /** Whether the person named it. If not, an open pull request keeps its own. */
  readonly isBaseNamed: boolean;
  /** The pull request that the person named; null: a new one is opened, under a new hash. */
  readonly prHash: string | null;
  readonly hasKey: boolean;
  /** In place of what the newest commit says; null: that is taken. */
  readonly title: PlannedText | null;
  readonly description: PlannedText | null;
  /** Whether a new pull request is a draft; an open one stays what it is. */
  readonly isDraft: boolean;
  /**
   * Whether the person affirms the Developer Certificate of Origin: the messages say so already.
   */
  readonly isSignedOff: boolean;
  /**
   * Whether lines of tools were left out of the messages. A later push has to ask for it again.
   */
  readonly stripsTrails: boolean;
  readonly stated: Stated;
  readonly commits: PlannedCommits;
  /** Upstream's branches that a fork must have, where upstream has them. */
  readonly upstream: readonly Ref[];
  /** The upstream commits that the new ones stand on. */
  readonly boundary: readonly Oid[];
  /** Entries of the pack besides the commits; their bytes are in the spool. */
  readonly entryCount: number;
}

/** Answers of the place that a push goes to: it takes pull requests, and ours. */
export interface OpenPlace {
  readonly repository: Repository;
  /** The end of the pull request's text; may be empty. */
  readonly footer: string;
  /** How much the repository takes, besides the operator's limit. */
  readonly policyLimits: readonly Limit[];
  /** The pull request that the push names; null: it names none, or one that nobody knows. */
  readonly named: NamedPullRequest | null;
}

export type Publishable = PushedWork & OpenPlace;

export interface NamedPullRequest {
  readonly prHash: string;
  readonly pullRequest: HostPullRequest;
  /** Where its commits end, the zero id if its branch is not there; null: its fork is gone. */
  readonly tip: Oid | null;
}

/**
 * Whether an open pull request is updated. One whose fork was deleted never changes any more, even
 * if it is open.
 */
export function isUpdate(push: { readonly named: Omit<NamedPullRequest, 'tip'> | null }): boolean {
  const { isOpen, source } = push.named?.pullRequest ?? {};
  return isOpen === true && source !== null;
}
