/**
 * Act two: judges what was received, in three functions: where it goes, what it is, and what the
 * rules say. Whatever refuses here does so on the whole push, before anything is written at the
 * host.
 */
import { utf8 } from '../../git/bytes.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { inTurn } from '../../git/objects/reword.ts';
import { haveOwnSignOff, signerOf } from '../../git/objects/sign-offs.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import { type NameSearch, type NamesSearched, searchNames } from '../../leaks/search-names.ts';
import { stripperOf } from '../../leaks/trails.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import type { Finding } from '../../words/finding.ts';
import { fullName } from '../../words/repository-name.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import { type Received, storedPack } from '../receive/receive.ts';
import { Refusal, refusedOptions } from '../reply/refusal.ts';
import type { NamedPullRequest, OpenPlace, PushedWork } from '../verdict.ts';
import {
  baseOfWork,
  type Circumstances,
  type Destination,
  findDestination,
  otherBase,
} from './destination.ts';
import { Findings, refusalOf } from './findings.ts';
import type { Known, Rule } from './known.ts';
import type { GitQuestions, Place, Upstream } from './questions.ts';
import { borrowedCommits, otherAuthors } from './rules/authors.ts';
import { changedFiles, noChange } from './rules/changes.ts';
import { folderFindings, folders } from './rules/folders.ts';
import { loudMessages, nulCharacters, peopleNamed, squashedMessage } from './rules/messages.ts';
import { names } from './rules/names.ts';
import { gate, messagesGate, otherGates, signOffGate, titleGate } from './rules/place.ts';
import {
  idleOptions,
  keyForLaterTexts,
  missingDescription,
  noise,
  signing,
  unreadableTitle,
} from './rules/texts.ts';
import { trails, usualAnywhere } from './rules/trails.ts';
import {
  changesNothing,
  commitsFrom,
  commitsNow,
  findWork,
  idsOf,
  newestBoundary,
  planWork,
  refuseUnrelated,
} from './work.ts';

/**
 * Rules, in the order in which they run. The first refusal of all judging gives the reason in Git's
 * status table. To add a rule, add a function here, and its test in test/push/judge/rules.
 */
const RULES: readonly Rule[] = [
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
  /** As `updatedCommits` says it; null: nobody knows, or it is no update. */
  readonly updated: string | null;
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
    const { named, ...known } = await whatItIs(received, destination, place, circumstances, git, findings);
    for (const rule of RULES) await findings.run(() => rule(known));
    return await verdictOn(known, named, findings.all);
  } catch (error) {
    throw findings.endedBy(error, circumstances.settings.client);
  }
}

async function verdictOn(
  { received, pushed: work, destination: { open, claim, updates }, place, history, leaving }: Known,
  named: NamedPullRequest | null,
  findings: readonly Finding[],
): Promise<Judged> {
  // What is refused tells no more, and costs the host no more, except in a preview.
  const isTold = received.options.preview || refusalOf(findings) === null;
  const updated =
    isTold && updates && place !== null && named !== null
      ? await place.ask.updatedCommits(named, work.commits, leaving(), (oid) => history.isKnown(oid))
      : null;
  return { work, place: open && { ...open, named }, claim, updates, updated, findings };
}

/**
 * Finds which commits leave, what they stand on, and whom they name.
 * @throws Refusal if that cannot be said
 */
async function whatItIs(
  received: Received,
  destination: Destination,
  place: Place | null,
  circumstances: Circumstances,
  git: GitQuestions,
  findings: Findings,
): Promise<Known & { readonly named: NamedPullRequest | null }> {
  const { options, pack } = received;
  const { settings, botLogin, memory, now } = circumstances;
  const { born, claim, isBaseRefused } = destination;
  const { defaultBranch } = born;
  const remoteUrl = settings.remoteUrl(born.repository);
  const bot = { name: botLogin, email: settings.anonEmail };
  const history = git.history([destination.base, defaultBranch]);
  await history.reachBack();
  const work = await findWork(received, history, remoteUrl);
  const owner = baseOfWork(destination, work, history);
  if (!isBaseRefused) findings.add(otherBase(owner));
  const base = owner ?? destination.base;
  const where = { base, defaultBranch, remoteUrl, bot, isQuiet: place === null };
  if (!isBaseRefused) await refuseUnrelated(work, pack.kept, history, where, git.isApart);
  const found = destination.named && { ...destination.named, tip: null };
  const named = await findings.valueOr(() => namedTip(received, destination, place, history), found);
  const reword = inTurn([
    ...(options.stripTrails ? [stripperOf(usualAnywhere(settings.hostUrl))] : []),
    ...(options.signOff ? [signerOf(pack.kept, bot)] : []),
  ]);
  const plan = await planWork(work, options, reword, newestBoundary(place));
  const { commits } = plan;
  // The longest work that is done at once.
  await memory.worked(commits.byteLength);
  // Begins now, and is awaited where it is told.
  const isEmpty = changesNothing(work, pack.entryCount, async (oid) => place?.ask.treeOf(oid) ?? null);
  const textOf = (text: string | null) => (text === null ? null : plan.planText(utf8(text)));
  const texts = { title: textOf(options.title), description: textOf(options.description) };
  let oddFolders: readonly Finding[] = [];
  const hasDates = (claim?.dates ?? []).length > 0;
  let made: AnonymousCommits | null = null;
  const leaving = () => (made ??= commitsNow(commits, bot, claim, now));
  const searched = await searchedNames({
    settings,
    options,
    nobodys: [botLogin, settings.anonEmail],
    commits: work.commits,
    plan,
    texts,
    published: commitsFrom(pack.kept, named?.tip ?? claim?.recorded?.tip ?? null),
    // A commit that has no date yet gets another id in any case.
    originalIds: idsOf(work.commits, hasDates ? leaving() : null),
    kept: pack.kept,
    pack: storedPack(pack.spool),
    judgeFolders: (faults, paths) => {
      oddFolders = folderFindings(faults, paths, commits);
    },
    history,
    upstream: {
      refs: born.refs,
      repository: born.repository,
      urls: [`${settings.hostUrl}/${fullName(born.repository)}`, settings.publishedUrl(born.repository)],
    },
    memory,
    questions: place?.ask ?? null,
    canSignOff: () => !options.signOff && haveOwnSignOff(pack.kept, work.commits),
    boundary: [...work.boundary][0] ?? base.oid,
  });
  const pushed: PushedWork = {
    base,
    isBaseNamed: destination.isBaseNamed,
    prHash: options.prHash,
    hasKey: options.prKey !== null,
    ...texts,
    isDraft: options.draft,
    isSignedOff: options.signOff,
    stripsTrails: options.stripTrails,
    stated: { ai: options.ai, issue: options.issue },
    commits,
    upstream: branchesHolding(history, work.boundary, base, defaultBranch),
    boundary: [...work.boundary],
    entryCount: pack.entryCount,
  };
  return {
    received,
    circumstances,
    bot,
    place,
    destination,
    history,
    work,
    plan,
    searched,
    pushed,
    isEmpty,
    oddFolders,
    leaving,
    named,
  };
}

/** Where the branch of the named pull request is. @throws Refusal if others' work would be lost */
async function namedTip(
  received: Received,
  { named, claim }: Destination,
  place: Place | null,
  history: UpstreamHistory,
): Promise<NamedPullRequest | null> {
  if (named === null || place === null) return null;
  const isHarmless = (oid: Oid): boolean =>
    oid === claim?.recorded?.tip || received.pack.kept.withOid(oid) !== undefined || history.isKnown(oid);
  return { ...named, tip: await place.ask.replaceableTip(named, isHarmless, received) };
}

/**
 * As `searchNames`; names that cannot be searched for refuse the push, also with `publish-names`.
 * Everything but the names is searched for then.
 */
function searchedNames(search: NameSearch): Promise<NamesSearched> {
  return searchNames(search).catch(async (error: unknown) => {
    if (!(error instanceof RangeError)) throw error;
    const settings = { ...search.settings, identityCheck: 'off' } as const;
    const searched = await searchNames({ ...search, settings });
    const reason = 'the authors’ names cannot be searched for';
    const lines = [
      'They are too long, or made of unusual characters. Change them ("git config user.name", "git rebase"), and push again.',
    ];
    // What was not searched goes without saying.
    const found = searched.findings.filter(({ code }) => code !== 'searched');
    return { ...searched, findings: [new Refusal('unsearchable', reason, lines), ...found] };
  });
}

/** Finds the branches of upstream's that a fork must have: the commits may stand on others. */
export function branchesHolding(
  history: UpstreamHistory,
  boundary: ReadonlySet<Oid>,
  base: Ref,
  defaultBranch: Ref,
): readonly Ref[] {
  const all = [base, defaultBranch, ...history.branchesHolding(boundary)];
  return [...new Map(all.map((branch) => [branch.name, branch])).values()];
}
