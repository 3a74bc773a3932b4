/**
 * Act two: judges what was received, in two halves: what the push is, which Git tells, and what the
 * place says. All refusals but the host's are made here, on the whole push of any size, before
 * anything is written at the host.
 */
import { datesOf, undatedOf } from '../../durable/pull-request/record.ts';
import { utf8 } from '../../git/bytes.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { Plan } from '../../git/objects/planned-commits.ts';
import { inTurn } from '../../git/objects/reword.ts';
import { haveOwnSignOff, signerOf, signOffLine } from '../../git/objects/sign-offs.ts';
import { type Fault, isTakenBySome, sayFsck } from '../../git/pack/fsck.ts';
import { outgoingBytes } from '../../git/pack/outgoing-pack.ts';
import type { PackPaths } from '../../git/search/pack-paths.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import { oneLine } from '../../words/host-text.ts';
import { MAX_READ_BYTES, shown, told, warningOfNames } from '../../leaks/messages.ts';
import { stripperOf } from '../../leaks/trails.ts';
import { type NameSearch, type NamesSearched, searchNames } from '../../leaks/search-names.ts';
import { gateSentence, OPEN_POLICY } from '../../policy/policy.ts';
import { fullName } from '../../words/repository-name.ts';
import { readMarkdown } from '../../text/markdown.ts';
import { noiseInMessage, noiseProblem, type Whereabouts } from '../../text/noise.ts';
import { namedText, newestOf, UNKNOWN_IDS, wholeText, type Worded } from '../../text/pull-request-text.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import { type Received, storedPack } from '../receive/receive.ts';
import { Refusal } from '../reply/refusal.ts';
import { type OpenPlace, previewed, type PushedWork } from '../verdict.ts';
import { findTrails, usualIn } from './rules/trails.ts';
import {
  baseOfWork,
  type Circumstances,
  findDestination,
  submoduleLines,
  workflowLines,
} from './destination.ts';
import type { Place, Questions, Upstream } from './questions.ts';
import {
  borrowedLines,
  changesNothing,
  commitsFrom,
  findWork,
  idsOf,
  othersLines,
  planWork,
  refuseUnrelated,
  warningOfSquash,
} from './work.ts';

const MOST_TOLD = 5;

/** A push that may be published. */
export interface Judged {
  readonly work: PushedWork;
  /** Null: the place is asked when the push is published. */
  readonly place: OpenPlace | null;
  /** The claim on the pull request that is updated, or whose branch is used again. */
  readonly claim: ClaimedUpdate | null;
  /** Whether an open pull request is updated, as far as is known. */
  readonly updates: boolean;
  /** As `updatedCommits` says it; null: nobody knows, or it is no update. */
  readonly updated: string | null;
  readonly warnings: readonly string[];
}

/**
 * @param asked what the place says; null: a later half asks it (delay/release.ts), and until then
 * no question may tell the host of the push.
 * @throws Refusal, also for a preview; ProtocolError; HostError `busy`; what a fault throws
 */
export async function judge(
  received: Received,
  upstream: Upstream,
  asked: Place | null,
  circumstances: Circumstances,
  questions: Questions,
): Promise<Judged> {
  const { options, pack } = received;
  const { ai, issue, prHash, signOff: isSignedOff } = options;
  const { settings, botLogin, memory, now, refusal, wasOpen } = circumstances;

  // Where it goes to.
  const destination = await findDestination(received, upstream, asked, circumstances, questions);
  const { open, born, named: found, updated, claim } = destination;
  const { repository, defaultBranch } = born;

  // What it is.
  const history = questions.history([destination.base, defaultBranch]);
  await history.reachBack();
  const work = await findWork(received, history, settings.remoteUrl(repository));
  const base = baseOfWork(questions, destination, work, history) ?? destination.base;
  const identity = { name: botLogin, email: settings.anonEmail };
  const branches = { base, defaultBranch, remoteUrl: settings.remoteUrl(repository), bot: identity };
  const surroundings = { ...branches, isQuiet: open === null };
  await refuseUnrelated(work, pack.kept, history, surroundings, questions.isApart);
  if (open !== null) {
    const own = updated?.pullRequest.number ?? null;
    const borrowed = await borrowedLines(questions.advertised, work, pack.kept, repository, own);
    if (borrowed.length > 0) questions.note(...borrowed);
  }
  const isHarmless = (oid: Oid): boolean =>
    oid === claim?.recorded?.tip || pack.kept.withOid(oid) !== undefined || history.isKnown(oid);
  const named = found && { ...found, tip: await questions.replaceableTip(found, isHarmless, received) };
  const usual = usualIn(history, settings.hostUrl);
  const reword = inTurn([
    ...(options.stripTrails ? [stripperOf(usual)] : []),
    ...(isSignedOff ? [signerOf(pack.kept, identity)] : []),
  ]);
  const plan = await planWork(work, options, reword, (boundary) => questions.newestOf(boundary));
  refuseNuls(plan);
  const { commits } = plan;
  // The longest work that is done at once.
  await memory.worked(commits.byteLength);
  let oddities: readonly string[] = [];
  const roots = new Set(Array.from(commits, ({ tree }) => tree));
  const known = claim?.dates ?? [];
  const undated = undatedOf(commits, identity);
  const { dateOf } = datesOf(undated, known, now);
  const anonymous = (): AnonymousCommits => new AnonymousCommits(commits, identity, dateOf);
  // Never rejects, and is awaited where it is told.
  const emptiness = changesNothing(work, pack.entryCount, questions.treeOf);
  const textOf = (text: string | null) => (text === null ? null : plan.planText(utf8(text)));
  const texts = { title: textOf(options.title), description: textOf(options.description) };
  const names = await namesIn({
    settings,
    options,
    nobodys: [botLogin, settings.anonEmail],
    commits: work.commits,
    plan,
    texts,
    published: commitsFrom(pack.kept, named?.tip ?? claim?.recorded?.tip ?? null),
    // A commit that has no date yet gets another id in any case.
    originalIds: idsOf(work.commits, known.length === 0 ? null : anonymous()),
    kept: pack.kept,
    pack: storedPack(pack.spool),
    judgeFolders: (faults, paths) => void (oddities = judgeFolders(faults, paths, roots)),
    history,
    upstream: {
      refs: born.refs,
      repository,
      urls: [`${settings.hostUrl}/${fullName(repository)}`, settings.publishedUrl(repository)],
    },
    memory,
    questions,
    canSignOff: () => !isSignedOff && haveOwnSignOff(pack.kept, work.commits),
    boundary: [...work.boundary][0] ?? base.oid,
    isQuiet: open === null,
  });
  const trails = await findTrails({ settings, options, plan, texts, usual, memory });
  if (trails.refusal !== null && !options.preview) throw trails.refusal;
  const pushed: PushedWork = {
    base,
    isBaseNamed: destination.isBaseNamed,
    prHash,
    hasKey: options.prKey !== null,
    ...texts,
    isDraft: options.draft,
    isSignedOff,
    stated: { ai, issue },
    commits,
    upstream: branchesHolding(history, work.boundary, base, defaultBranch),
    boundary: [...work.boundary],
    entryCount: pack.entryCount,
  };

  // What the rules say to it.
  const place = open && { ...open, named };
  const updates = open === null ? wasOpen : updated !== null;
  const where = { hostUrl: settings.hostUrl, repository };
  refuseNoise({ ...pushed, footer: open?.footer ?? '' }, updates, where);
  const changes =
    updated === null || named === null
      ? null
      : await questions.updatedCommits(named, commits, anonymous(), (oid) => history.isKnown(oid));
  const policy = asked?.policy ?? OPEN_POLICY;
  const { template, hasSubmodules, hasWorkflows } = policy.community;
  const mayHaveModules = hasSubmodules || names.hasGitlinks;
  const mayHaveWorkflows = hasWorkflows || names.hasWorkflows || policy.refusesWorkflows;
  const how = { isAll: mayHaveModules, isRequired: policy.refusesWorkflows };
  const isCompared = mayHaveModules || mayHaveWorkflows;
  const changed = isCompared ? await questions.entriesChanged(pushed, pack.spool, how) : [];
  const gate = updates ? null : gateSentence(repository, policy);
  questions.noteRules(
    ...(gate === null ? [] : [gate]),
    ...workflowLines(changed, repository, policy, mayHaveWorkflows),
  );
  const signing = `This push signs off every commit as ${botLogin} <${settings.anonEmail}> (Developer Certificate of Origin 1.1).`;
  const warnings = [
    ...names.lines,
    ...trails.lines,
    ...(updates
      ? warningsOfUpdate(pushed)
      : warningsOfText(pushed, template && settings.fileUrl(repository, template))),
    ...(isSignedOff ? [signing] : []),
    ...warningOfNames(plan.messages(), isSignedOff ? signOffLine(identity) : null),
    ...warningOfNoise(pushed, where),
    ...oddities,
    ...(mayHaveModules ? submoduleLines(changed) : []),
    ...warningOfSquash(work, options),
    ...othersLines(work, pack.kept, identity),
    ...((await emptiness) ? ['This push changes no file.'] : []),
    ...(refusal === null
      ? []
      : [`This push would be refused now: ${refusal.reason}. ${refusal.lines.at(-1)}`]),
  ];
  if (!options.preview || place === null)
    return { work: pushed, place, claim, updates, updated: changes, warnings };
  const push = { ...pushed, ...place };
  // What would be refused anyway is no new pull request.
  if (!updates && refusal === null) await questions.tellSameWork(push, undated());
  const leaving = anonymous();
  const bytes = outgoingBytes(leaving.contents(), pack.spool.byteLength);
  const author = botLogin;
  const facts = { author, refusal: names.refusal ?? trails.refusal?.reason ?? null, dateOf, bytes };
  throw previewed(push, leaving, { ...facts, updated: changes, remarks: warnings });
}

/** @throws Refusal if the author would be named, and this is not allowed. */
async function namesIn(search: NameSearch): Promise<NamesSearched> {
  const names = await searchNames(search).catch((error: unknown) => {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal('names', 'the authors’ names cannot be searched for', [
      'They are too long, or made of unusual characters. Change them ("git config user.name", "git rebase"), and push again.',
    ]);
  });
  if (names.refusal === null || search.options.preview) return names;
  throw new Refusal('names', names.refusal, names.lines);
}

/**
 * Judges what hosts would refuse in a push's folders: they would name ids that nobody has.
 * @param roots the folders of commits.
 * @returns lines for the person.
 * @throws Refusal
 */
function judgeFolders(
  faults: readonly Fault[],
  paths: Pick<PackPaths, 'pathOf'>,
  roots: ReadonlySet<Oid>,
): readonly string[] {
  const linesOf = (some: readonly Fault[], who: string): string[] => {
    const lines = some.map(([id, oid]) => {
      const path = paths.pathOf(oid);
      const unnamed = roots.has(oid) ? 'the root folder' : 'a folder';
      return `${who} ${path === null ? unnamed : `"${oneLine(path)}"`}: ${sayFsck(id)}.`;
    });
    return [...new Set(lines)].slice(0, MOST_TOLD);
  };
  const sure = faults.filter(([id]) => !isTakenBySome(id));
  if (sure.length === 0) return linesOf(faults, 'Some code hosts refuse');
  throw new Refusal('fsck', 'code hosts refuse some of its folders', [
    ...linesOf(sure, 'Code hosts refuse'),
    'Correct it in every commit that has it ("git rebase -i"), then push again. "git fsck" shows it, too.',
  ]);
}

/** Hosts check new objects (git-fsck, `nulInCommit`), and would name an id that nobody has. */
function refuseNuls(plan: Plan): void {
  for (const message of plan.messages()) {
    if (!message.includes(0)) continue;
    const title = oneLine(pullRequestText({ encoding: null, message }).title);
    throw new Refusal('not-rewritable', 'a message holds a NUL character', [
      `Code hosts refuse such commits. Change the message of "${title}": "git commit --amend" or "git rebase -i".`,
    ]);
  }
}

function warningsOfUpdate({ isDraft, stated, description }: PushedWork): string[] {
  const isUnsaid = description === null && (stated.ai ?? stated.issue) !== null;
  return [
    ...(isDraft ? ['The option draft changes nothing: this pull request is open already.'] : []),
    ...(isUnsaid ? ['The options ai and issue change nothing without -o description=<line>.'] : []),
  ];
}

/** @param template address of the template for pull requests; null: there is none. */
function warningsOfText({ title, description, commits }: PushedWork, template: string | null): string[] {
  const { encoding, message } = newestOf(commits);
  const text = pullRequestText({ encoding, message: message.bytes });
  // A sign-off is no description.
  const isEmpty = description === null && !/^(?!Signed-off-by:).*\S/im.test(text.body);
  // Stands for what could not be read: the commit names another encoding, or one that nobody here
  // knows.
  const isUnreadable = title === null && text.title.includes('\ufffd');
  const why =
    encoding === null ? 'is not UTF-8' : `is in ${oneLine(encoding)}, which the service cannot read`;
  const advice = `Your pull request has no description, and there is a template: ${template}. Give one: -o description=<line>, once for each line.`;
  const unreadable = `The title is not readable: the message of your commit ${why}. Give another one: -o title=<title>`;
  return [...(isEmpty && template !== null ? [advice] : []), ...(isUnreadable ? [unreadable] : [])];
}

/** @throws Refusal if the text of the pull request would. */
function refuseNoise(push: Worded, updates: boolean, where: Whereabouts): void {
  const { title, body } = updates ? namedText(push, UNKNOWN_IDS) : wholeText(push, UNKNOWN_IDS);
  const texts = { title: readMarkdown(title ?? ''), description: readMarkdown(body ?? '') };
  const problem = noiseProblem(texts, where);
  if (problem === null) return;
  throw new Refusal('noise', 'the pull request would disturb too many people', [
    `Its ${problem}.`,
    'Title and description come from the message of the newest commit. To replace them, push again with',
    '-o title=... or -o description=...',
  ]);
}

/**
 * Lines for the person, about messages that would. Hosts read no Markdown in messages. Cost:
 * linear, and bounded.
 */
function warningOfNoise({ commits }: Pick<PushedWork, 'commits'>, where: Whereabouts): string[] {
  const titles: string[] = [];
  let bytesLeft = MAX_READ_BYTES;
  for (const { encoding, message } of commits) {
    const { title, body } = pullRequestText({ encoding, message: message.bytes.subarray(0, bytesLeft) });
    if (noiseInMessage(`${title}\n${body}`, where) !== null) titles.push(title);
    bytesLeft -= message.bytes.byteLength;
    if (bytesLeft <= 0) break;
  }
  return told(
    'Your commit messages become public as they are. These mention many people, or refer to many things in other repositories:',
    titles.map(shown),
  );
}

/** The upstream commits that the new ones stand on may belong to another branch than the base. */
export function branchesHolding(
  history: UpstreamHistory,
  boundary: ReadonlySet<Oid>,
  base: Ref,
  defaultBranch: Ref,
): readonly Ref[] {
  const all = [base, defaultBranch, ...history.branchesHolding(boundary)];
  return [...new Map(all.map((branch) => [branch.name, branch])).values()];
}
