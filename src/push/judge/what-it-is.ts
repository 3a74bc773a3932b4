/**
 * Finds what a push is: which commits leave, what they stand on, and whom they name.
 * Proved by test/push/judge/judge.test.ts.
 */
import { utf8 } from '../../git/bytes.ts';
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { CommitIdentity } from '../../git/objects/commit.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Plan } from '../../git/objects/planned-commits.ts';
import { inTurn, type Reword } from '../../git/objects/reword.ts';
import { haveOwnSignOff, signerOf } from '../../git/objects/sign-offs.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import { type NameSearch, type NamesSearched, searchNames } from '../../leaks/search-names.ts';
import { stripperOf } from '../../leaks/trails.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import type { Finding } from '../../words/finding.ts';
import { fullName } from '../../words/repository-name.ts';
import { type Received, storedPack } from '../receive/receive.ts';
import { shellWord } from '../reply/commands.ts';
import { Refusal } from '../reply/refusal.ts';
import type { NamedPullRequest, PushedWork } from '../verdict.ts';
import { baseOfWork, otherBase, shortName } from './base-branch.ts';
import type { Circumstances, Destination } from './destination.ts';
import type { Findings } from './findings.ts';
import type { Known } from './known.ts';
import type { GitQuestions, Place } from './questions.ts';
import { droppedCommits } from './rules/authors.ts';
import { folderFindings } from './rules/searched.ts';
import { usualAnywhere } from './rules/trails.ts';
import {
  authorOf,
  commitsFrom,
  commitsNow,
  findBoundaryTree,
  findWork,
  idsOf,
  newestBoundary,
  planWork,
  refuseUnrelated,
  type Work,
} from './work.ts';

/** Branches of upstream's that a fork is to have besides the base and the default branch. */
const MOST_OTHERS = 20;

/** Work, and where it stands: on what of upstream's, and on whose branch. */
interface BasedWork {
  readonly history: UpstreamHistory;
  readonly work: Work;
  readonly base: Ref;
  readonly named: NamedPullRequest | null;
}

/** All that is asked about a push while it is judged. */
interface Question {
  readonly received: Received;
  readonly destination: Destination;
  /** The place that the push goes to; null: no question may tell the host of the push. */
  readonly place: Place | null;
  readonly circumstances: Circumstances;
  readonly git: GitQuestions;
  readonly findings: Findings;
}

/**
 * Finds which commits leave, what they stand on, and whom they name.
 * @throws Refusal if that cannot be said
 */
export async function whatItIs(
  asked: Question,
): Promise<Known & { readonly named: NamedPullRequest | null }> {
  const { received, destination, place, circumstances } = asked;
  const { settings, botLogin, memory, now } = circumstances;
  const bot = { name: botLogin, email: settings.anonEmail };
  const based = await findBasedWork(asked, bot);
  const { history, work, named } = based;
  const plan = await planWork(
    work,
    received.options,
    rewordingOf(received, settings, bot),
    newestBoundary(place),
    memory,
  );
  const { commits } = plan;
  // Begins now, and is awaited where it is told.
  const askTree = async (oid: Oid) => place?.ask.treeOf(oid) ?? null;
  const boundaryTree = findBoundaryTree(work, received.pack.entryCount, askTree);
  let made: Promise<AnonymousCommits> | null = null;
  const leaving = () =>
    (made ??= commitsNow([commits, bot, destination.claim, now], settings.signingKey, memory));
  const pushed = pushedWork(asked, based, plan);
  let oddFolders: readonly Finding[] = [];
  const searched = await searchedNames({
    ...(await searchOf(asked, based, plan, leaving)),
    texts: { title: pushed.title, description: pushed.description },
    judgeFolders: (faults, paths) => {
      oddFolders = folderFindings(faults, paths, commits);
    },
  });
  const found = { work, history, plan, searched, pushed, boundaryTree, oddFolders, leaving, named };
  return { received, circumstances, bot, place, destination, ...found };
}

/** @throws Refusal if the work stands on nothing that its base knows */
async function findBasedWork(asked: Question, bot: CommitIdentity): Promise<BasedWork> {
  const { received, destination, place, circumstances, git, findings } = asked;
  const { born, isBaseRefused } = destination;
  const { defaultBranch } = born;
  const { settings } = circumstances;
  const remoteUrl = settings.remoteUrl(born.repository);
  const history = git.history([destination.base, defaultBranch]);
  await history.reachBack();
  const advice = { remoteUrl, branch: shortName(destination.base), door: settings.door };
  const work = await findWork(received, history, advice, circumstances.memory);
  if (place !== null) await reachBoundary(work, history, [destination.base, defaultBranch]);
  const owner = baseOfWork(destination, work, history);
  if (!isBaseRefused) findings.add(otherBase(owner));
  const base = owner ?? destination.base;
  const where = { base, defaultBranch, remoteUrl, bot, isQuiet: place === null };
  if (!isBaseRefused) await refuseUnrelated(work, history, where, git);
  const found = destination.named && { ...destination.named, tip: null };
  const named = await findings.valueOr(() => namedTip(asked, history, work), found);
  return { history, work, base, named };
}

/**
 * Lists the base and the default branch further back while no branch is known to have what the work
 * stands on. An old tag of theirs is no other branch.
 */
async function reachBoundary(
  { boundary }: Work,
  history: UpstreamHistory,
  main: readonly Ref[],
): Promise<void> {
  const isFound = (oid: Oid) =>
    main.some((branch) => history.has(branch.oid, oid)) || history.branchesHolding(new Set([oid])).length > 0;
  while (![...boundary].every(isFound)) if (!(await history.reachBack())) return;
}

/** Changes that options make to the messages, or null. */
function rewordingOf(
  { options }: Received,
  { hostUrl }: Circumstances['settings'],
  bot: CommitIdentity,
): Reword | null {
  return inTurn([
    ...(options.stripTrails ? [stripperOf(usualAnywhere(hostUrl))] : []),
    ...(options.signOff ? [signerOf(bot)] : []),
  ]);
}

function pushedWork(
  { received: { options, pack }, destination }: Question,
  { history, work, base }: BasedWork,
  plan: Plan,
): PushedWork {
  const textOf = (text: string | null) => (text === null ? null : plan.planText(utf8(text)));
  return {
    base,
    isBaseNamed: destination.isBaseNamed,
    prHash: options.prHash,
    hasKey: options.prKey !== null,
    title: textOf(options.title),
    description: textOf(options.description),
    isDraft: options.draft,
    isSignedOff: options.signOff,
    stripsTrails: options.stripTrails,
    stated: { ai: options.ai, issue: options.issue },
    commits: plan.commits,
    upstream: branchesHolding(history, work.boundary, base, destination.born.defaultBranch),
    boundary: [...work.boundary],
    entryCount: pack.entryCount,
  };
}

/** Says what is searched for names, and whom it may tell. */
async function searchOf(
  { received: { options, pack }, destination: { born, claim }, place, circumstances }: Question,
  { history, work, base, named }: BasedWork,
  plan: Plan,
  leaving: Known['leaving'],
): Promise<Omit<NameSearch, 'texts' | 'judgeFolders'>> {
  const { settings, botLogin, memory } = circumstances;
  const hasDates = (claim?.dates ?? []).length > 0;
  return {
    settings,
    options,
    nobodys: [botLogin, settings.anonEmail],
    commits: work.commits,
    plan,
    published: commitsFrom(pack.kept, named?.tip ?? claim?.recorded?.tip ?? null),
    // A commit that has no date yet gets another id in any case.
    originalIds: idsOf(work.commits, hasDates ? await leaving() : null),
    kept: pack.kept,
    pack: storedPack(pack.spool),
    history,
    upstream: {
      refs: born.refs,
      repository: born.repository,
      urls: [`${settings.hostUrl}/${fullName(born.repository)}`, settings.publishedUrl(born.repository)],
    },
    memory,
    questions: place?.ask ?? null,
    canSignOff: () => !options.signOff && haveOwnSignOff(work.commits),
    rebase: `git pull --rebase ${settings.remoteUrl(born.repository)} ${shellWord(shortName(base))}`,
    boundary: [...work.boundary][0] ?? base.oid,
  };
}

/**
 * Finds where the branch of the named pull request is.
 * @throws Refusal if others' work would be lost, and that was not asked for
 */
async function namedTip(
  { received, destination: { named, claim }, place, findings }: Question,
  history: UpstreamHistory,
  { commits }: Work,
): Promise<NamedPullRequest | null> {
  if (named === null || place === null) return null;
  const own = authorOf(commits.at(-1)!);
  // The service sends no commit as the person has made it. Whoever has pushed one there has guessed
  // it, and must not be told by an update that goes through.
  const isTheirs = (oid: Oid): boolean => {
    const pushed = received.pack.kept.withOid(oid);
    return pushed !== undefined && authorOf(pushed) !== own;
  };
  const isHarmless = (oid: Oid): boolean =>
    oid === claim?.recorded?.tip || isTheirs(oid) || history.isKnown(oid);
  const found = { ...named, tip: await place.ask.replaceableTip(named, isHarmless, received) };
  if (received.options.overwrite) findings.add(droppedCommits(await place.ask.othersOn(found, isHarmless)));
  return found;
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
      'The authors’ names are too long, or made of unusual characters. Change them ("git config user.name", "git rebase"), and push again.',
    ];
    // What was not searched goes without saying.
    const found = searched.findings.filter(({ code }) => code !== 'searched');
    return { ...searched, findings: [new Refusal('unsearchable', reason, lines), ...found] };
  });
}

/**
 * Finds the branches of upstream's that a fork must have, because the commits may stand on others.
 * It needs one for each commit, and may lack some: each costs a write, and anybody can make a
 * repository with thousands.
 */
export function branchesHolding(
  history: Pick<UpstreamHistory, 'branchesHolding'>,
  boundary: ReadonlySet<Oid>,
  base: Ref,
  defaultBranch: Ref,
): readonly Ref[] {
  const main = [...new Map([base, defaultBranch].map((branch) => [branch.name, branch])).values()];
  const tips = new Set(main.map(({ oid }) => oid));
  const others: Ref[] = [];
  for (const branch of history.branchesHolding(boundary)) {
    if (others.length === MOST_OTHERS) break;
    if (!tips.has(branch.oid)) others.push(branch);
    tips.add(branch.oid);
  }
  return [...main, ...others];
}
