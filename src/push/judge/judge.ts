/**
 * Act two: judges what was received, in three functions: where it goes, what it is, and what the
 * rules say. Whatever refuses here does so on the whole push, before anything is written at the
 * host.
 */
import type { Oid } from '../../git/objects/oid.ts';
import type { CommitChanges } from '../../text/commit-changes.ts';
import type { Finding } from '../../words/finding.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import type { Received } from '../receive/receive.ts';
import { refusedOptions } from '../reply/refusal.ts';
import type { Compared } from '../same-work.ts';
import type { NamedPullRequest, OpenPlace, PushedWork } from '../verdict.ts';
import { type Circumstances, findDestination } from './destination.ts';
import { Findings, refusalOf } from './findings.ts';
import type { Known, Rule } from './known.ts';
import type { GitQuestions, Place, Upstream } from './questions.ts';
import { borrowedCommits, otherAuthors, otherBranch } from './rules/authors.ts';
import { changedFiles, noChange } from './rules/changes.ts';
import { doubles } from './rules/doubles.ts';
import { largeFiles } from './rules/large-files.ts';
import { loudMessages, nulCharacters, peopleNamed, squashedMessage } from './rules/messages.ts';
import { gate, messagesGate, otherGates, signOffGate, titleGate } from './rules/place.ts';
import { folders, names } from './rules/searched.ts';
import {
  idleOptions,
  keyForLaterTexts,
  missingDescription,
  noise,
  signing,
  unreadableTitle,
} from './rules/texts.ts';
import { trails } from './rules/trails.ts';
import { whatItIs } from './what-it-is.ts';
import { othersIn } from './work.ts';

/**
 * Rules, in the order in which they run. The first refusal of all judging gives the reason in Git's
 * status table. To add a rule, add a function here, and its test in test/push/judge/rules.
 */
const RULES: readonly Rule[] = [
  largeFiles,
  nulCharacters,
  folders,
  names,
  trails,
  noise,
  gate,
  titleGate,
  messagesGate,
  signOffGate,
  otherGates,
  changedFiles,
  keyForLaterTexts,
  borrowedCommits,
  otherAuthors,
  otherBranch,
  idleOptions,
  missingDescription,
  unreadableTitle,
  signing,
  peopleNamed,
  loudMessages,
  squashedMessage,
  noChange,
];

/** A push that was judged, and what has been found in it. */
export interface Judged {
  readonly work: PushedWork;
  /** The place that the push goes to; null: it is asked when the push is published. */
  readonly place: OpenPlace | null;
  /** The claim on the pull request that is updated, or whose branch is used again. */
  readonly claim: ClaimedUpdate | null;
  /** Whether an open pull request is updated, as far as is known. */
  readonly updates: boolean;
  /** The changes of an update; null: nobody knows, or it is no update. */
  readonly updated: CommitChanges | null;
  /** The commits by others, oldest first, if it names a pull request; else not looked for. */
  readonly others: readonly Oid[];
  /** The pull request that has its commits; null: none was looked for, because it is refused. */
  readonly compared: Compared | null;
  readonly findings: readonly Finding[];
}

/**
 * Judges a push. Its findings may refuse it: see `refusalOf`.
 * @param place null: a later half asks it (delay/release.ts), and until then no question may tell
 * the host of the push.
 * @throws Refusal if not all could be judged; ProtocolError; HostError `busy`; what a fault throws
 */
export async function judge(
  received: Received,
  upstream: Upstream,
  place: Place | null,
  circumstances: Circumstances,
  git: GitQuestions,
): Promise<Judged> {
  const findings = new Findings();
  findings.add(refusedOptions(received.faults));
  try {
    const destination = await findDestination(received, upstream, place, circumstances, findings);
    const asked = { received, destination, place, circumstances, git, findings };
    const { named, ...known } = await whatItIs(asked);
    for (const rule of RULES) await findings.run(() => rule(known));
    return await verdictOn(known, named, findings);
  } catch (error) {
    throw findings.endedBy(error, circumstances.settings.client);
  }
}

async function verdictOn(known: Known, named: NamedPullRequest | null, findings: Findings): Promise<Judged> {
  const { received, circumstances, pushed: work, destination, place, history, leaving } = known;
  const { open, claim, updates } = destination;
  // What is refused tells no more, and costs the host no more, except in a preview.
  const isTold = received.options.preview || refusalOf(findings.all) === null;
  const updated =
    isTold && updates && place !== null && named !== null
      ? await place.ask.updatedCommits(named, work.commits, await leaving(), (oid) => history.isKnown(oid))
      : null;
  // What the limits would refuse opens no second one.
  const compared = isTold && circumstances.refusal === null ? await comparedWork(known) : null;
  if (compared !== null) await findings.run(() => doubles(known, compared));
  const says = open && { ...open, named };
  const isNamed = received.options.prHash !== null;
  const others = isNamed ? othersIn(known.work.commits, known.bot).map(({ oid }) => oid) : [];
  return { work, place: says, claim, updates, updated, others, compared, findings: findings.all };
}

async function comparedWork(known: Known): Promise<Compared> {
  const { circumstances, pushed, bot, destination } = known;
  const { updates, born } = destination;
  const boundaryTree = await known.boundaryTree;
  return circumstances.records.compare(pushed, { repository: born.repository, bot, updates, boundaryTree });
}
