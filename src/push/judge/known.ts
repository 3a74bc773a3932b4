/**
 * Facts about a push that judging knows, so that a step needs nothing else.
 * Proved by test/push/judge/judge.test.ts.
 */
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { CommitIdentity } from '../../git/objects/commit.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Plan } from '../../git/objects/planned-commits.ts';
import type { NamesSearched } from '../../leaks/search-names.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import type { Finding } from '../../words/finding.ts';
import type { Received } from '../receive/receive.ts';
import type { PushedWork } from '../verdict.ts';
import type { Circumstances, Destination } from './destination.ts';
import type { Place } from './questions.ts';
import type { Work } from './work.ts';

/** A push whose destination and commits are known. */
export interface Known {
  readonly received: Received;
  readonly circumstances: Circumstances;
  /** The bot, as it stands in the commits. */
  readonly bot: CommitIdentity;
  /** The place that the push goes to; null: the host's interface is not asked yet. */
  readonly place: Place | null;
  readonly destination: Destination;
  readonly history: UpstreamHistory;
  readonly work: Work;
  readonly plan: Plan;
  readonly searched: NamesSearched;
  readonly pushed: PushedWork;
  /** Findings that hosts would refuse in folders, which the search for names has read. */
  readonly oddFolders: readonly Finding[];
  /** Answers the commits as they would leave now. Each is hashed and signed once. */
  readonly leaving: () => Promise<AnonymousCommits>;
  /** The files that the push began with, as `findBoundaryTree` finds them. Never rejects. */
  readonly boundaryTree: Promise<Oid | null>;
}

/** A step of judging. A refusal that it throws is a finding like any other. */
export type Rule = (known: Known) => readonly Finding[] | Promise<readonly Finding[]>;
