/**
 * What comes of judging a push. A publishable push is data: it can be stored, and published by another isolate later
 * (encoding.ts). It never holds a name, a date or an original id of the person.
 */
import type { PlannedCommits, PlannedText } from '../../git/objects/planned-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import type { PullRequest, Repository } from '../../host/code-host.ts';
import type { Limit } from '../../limits/sliding-window.ts';
import type { Preview, Refusal } from '../reply/refusal.ts';

export type Verdict =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Nothing is to be published: this is what would be. */
  | { readonly kind: 'preview'; readonly preview: Preview }
  | { readonly kind: 'publishable'; readonly push: Publishable; readonly warnings: readonly string[] };

export interface Publishable {
  readonly repository: Repository;
  /** The branch that the pull request is for. */
  readonly base: Ref;
  /** Whether the person named it. If not, an open pull request keeps its own. */
  readonly isBaseNamed: boolean;
  /** The pull request that the person named; null: a new one is opened, under a new hash. */
  readonly named: NamedPullRequest | null;
  /** In place of what the newest commit says; null: that is taken. */
  readonly title: PlannedText | null;
  readonly description: PlannedText | null;
  /** Of a new pull request; an open one stays what it is. */
  readonly isDraft: boolean;
  /** Whether the person affirms the Developer Certificate of Origin: the messages say so already. */
  readonly isSignedOff: boolean;
  /** What the pull request's text ends with; may be empty. */
  readonly footer: string;
  /** How much the repository takes, besides the operator's limit. */
  readonly policyLimits: readonly Limit[];
  readonly commits: PlannedCommits;
  /** Upstream's branches that the fork must have, where upstream has them. */
  readonly upstream: readonly Ref[];
  /** The upstream commits that the new ones stand on. */
  readonly ground: readonly Oid[];
  /** Entries of the pack besides the commits; their bytes are in the spool. */
  readonly entryCount: number;
  /** Objects outside the pack that its deltas name. */
  readonly namedBases: readonly Oid[];
  /** Whether it may change a submodule. */
  readonly mayChangeSubmodules: boolean;
}

export interface NamedPullRequest {
  readonly prHash: string;
  readonly pullRequest: PullRequest;
}

/** Whether an open pull request is updated. One whose fork was deleted never changes any more, even if it is open. */
export function isUpdate({ named }: Pick<Publishable, 'named'>): boolean {
  return named?.pullRequest.isOpen === true && named.pullRequest.fork !== null;
}
