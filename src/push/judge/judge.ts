/**
 * Act two: judges what was received against upstream, and returns a verdict. Every refusal that does not come from the
 * host is made here, on the whole push, whatever its size. Nothing has been written at the host yet.
 */
import { utf8 } from '../../git/bytes.ts';
import type { Memory } from '../../git/memory.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { pullRequestText } from '../../git/objects/commit-message.ts';
import type { Plan, PlannedText } from '../../git/objects/planned-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { outgoingBytes } from '../../git/pack/outgoing-pack.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import { oneLine } from '../../host-text.ts';
import { POLICY_PATH } from '../../policy/policy.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import type { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { missingKey } from '../pr-key.ts';
import type { ClaimedUpdate } from '../push-run.ts';
import type { Received } from '../receive/receive.ts';
import { Refusal } from '../reply/refusal.ts';
import type { PushSettings } from '../push-host.ts';
import { datesOf, undatedOf } from '../verdict/dates.ts';
import { previewOf } from '../verdict/preview.ts';
import { sameWorkLines, tellSameWork } from '../same-work.ts';
import { isUpdate, newestOf, type Publishable, type Verdict } from '../verdict/verdict.ts';
import {
  type Base,
  baseOfWork,
  branchOf,
  chooseBase,
  findNamed,
  type OpenUpstream,
  openUpstream,
} from './destination.ts';
import { borrowedLines } from './borrowed.ts';
import { checkFolders } from './folders.ts';
import { searchNames } from './names/search-names.ts';
import { warningOfNames } from './names/message-names.ts';
import { refuseNoise, warningOfNoise } from './noise.ts';
import type { Questions, Upstream } from './questions.ts';
import { SignOff } from './sign-off.ts';
import { commitsFrom, findWork, planWork, warningOfSquash, type Work } from './work.ts';

export interface Judged {
  readonly verdict: Verdict;
  /** The claim on the pull request that is updated, or whose branch is used again. */
  readonly claim: ClaimedUpdate | null;
}

/** What judging needs besides the push and upstream. */
export interface Circumstances {
  readonly settings: PushSettings;
  /** The claim of the pull request that the push names, if the service has that in its list. */
  readonly listed: ClaimedUpdate | null;
  readonly memory: Memory;
  /** Seconds since 1970. */
  readonly now: number;
  /** Why the client's limits would refuse what a preview shows; null: they would not. */
  readonly refusal: Refusal | null;
}

/** Uses nothing but its arguments. @throws ProtocolError; HostError `busy`; what a fault of the service throws. */
export async function judge(
  received: Received,
  upstream: Upstream,
  circumstances: Circumstances,
  questions: Questions,
): Promise<Judged> {
  try {
    return await judged(received, upstream, circumstances, questions);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { verdict: { kind: 'refused', refusal: error }, claim: null };
  }
}

async function judged(
  received: Received,
  upstream: Upstream,
  { settings, listed, memory, now, refusal }: Circumstances,
  questions: Questions,
): Promise<Judged> {
  const { options, pack, taken } = received;
  const open = openUpstream(upstream, settings, branchOf(taken.target, options.base));
  const { repository, botLogin, defaultBranch } = open;
  if (open.policy?.requiresSignOff && !options.signOff) throw unsigned(repository);
  const { named: found, claim } = await findNamed(questions, open, options.prHash, listed, refusal === null);
  const changesTexts = options.title !== null || options.description !== null;
  if (isUpdate({ named: found }) && changesTexts && options.prKey === null) throw missingKey('texts');
  const current = isUpdate({ named: found }) ? (found?.pullRequest.base ?? null) : null;
  const chosen = await chooseBase(questions, taken.target, options.base, current, open);
  if (!open.hasAllBranches && !chosen.isNamed) await questions.note(adviceToNameBase(open, chosen));
  const history = questions.history([chosen.ref, defaultBranch]);
  await history.reachBack();
  const work = await findWork(received, history, settings.remoteUrl(repository));
  const base =
    (chosen.isGuess && open.hasAllBranches ? await baseOfWork(questions, work, history) : null) ?? chosen.ref;
  const updated = isUpdate({ named: found }) ? (found?.pullRequest.number ?? null) : null;
  const borrowed = await borrowedLines(questions, work, pack.kept, repository, updated);
  if (borrowed.length > 0) await questions.note(...borrowed);
  const isHarmless = (oid: Oid): boolean =>
    oid === claim?.recorded?.tip || pack.kept.withOid(oid) !== undefined || history.isKnown(oid);
  const named =
    found === null ? null : { ...found, tip: await questions.replaceableTip(found, isHarmless, received) };
  const identity = { name: botLogin, email: settings.anonEmail };
  const signOff = options.signOff ? new SignOff(pack.kept, identity) : null;
  const plan = await planWork(work, options, signOff, (ground) => questions.newestOf(ground));
  refuseNuls(plan);
  const oddities = await checkFolders(pack, rootsOf(plan), memory);
  const known = claim?.dates ?? [];
  const undated = undatedOf(plan.commits, identity);
  const { dateOf } = datesOf(undated, known, now);
  const anonymous = (): AnonymousCommits => new AnonymousCommits(plan.commits, identity, dateOf);
  const [ground = base.oid] = work.ground;
  const names = await searchNames({
    settings,
    options,
    nobodys: [botLogin, settings.anonEmail],
    work,
    plan,
    published: commitsFrom(pack.kept, named?.tip ?? null),
    // A commit that has no date yet gets another id in any case.
    originalIds: idsOf(work.commits, known.length === 0 ? null : anonymous()),
    pack,
    history,
    upstream: {
      refs: open.refs,
      repository,
      urls: [`${settings.hostUrl}/${fullName(repository)}`, settings.publishedUrl(repository)],
    },
    memory,
    questions: {
      advertised: questions.advertised,
      readBases: questions.readBases,
      readUpstream: (paths, maxBytes) => questions.readFiles(ground, paths, maxBytes),
    },
  });
  const push: Publishable = {
    repository,
    base,
    isBaseNamed: chosen.isNamed,
    named,
    title: textOf(plan, options.title),
    description: textOf(plan, options.description),
    isDraft: options.draft,
    isSignedOff: options.signOff,
    footer: open.policy?.pullRequestFooter ? settings.pullRequestFooter : '',
    policyLimits: open.policy?.limits ?? [],
    commits: plan.commits,
    upstream: branchesHolding(history, work.ground, base, defaultBranch),
    ground: [...work.ground],
    entryCount: pack.entryCount,
    namedBases: [...pack.namedBases.oids()],
  };
  const where = { hostUrl: settings.hostUrl, repository };
  refuseNoise(push, where);
  const warnings = [
    ...(signOff?.lines ?? []),
    ...warningOfNames(plan.messages(), signOff?.line ?? null),
    ...warningOfNoise(push, where),
    ...warningOfDraft(push),
    ...warningOfEncoding(push),
    ...oddities,
    ...(open.hasSubmodules || names.hasGitlinks ? await questions.submoduleLines(push, pack) : []),
    ...warningOfSquash(work, options),
    ...(refusal === null
      ? []
      : [`This push would be refused now: ${refusal.reason}. ${refusal.lines.at(-1)}`]),
  ];
  if (!options.preview) {
    return { verdict: { kind: 'publishable', push, warnings: [...names.warnings, ...warnings] }, claim };
  }
  // What would be refused anyway is no new pull request.
  const isNew = named === null && refusal === null;
  const same = isNew ? await questions.sameWork(push, undated()) : null;
  if (same !== null) {
    await tellSameWork(questions, same, sameWorkLines({ settings, target: repository }, push, same));
  }
  const shown = anonymous();
  const bytes = outgoingBytes(shown.contents(), pack.spool.byteLength);
  const previewed = { push, botLogin, anonymous: shown, dateOf, bytes };
  const preview = previewOf({ ...previewed, findings: names.report, warnings, refusal: names.refusal });
  return { verdict: { kind: 'preview', preview }, claim };
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

function rootsOf({ commits }: Plan): Set<Oid> {
  return new Set(Array.from({ length: commits.length }, (_, number) => commits.at(number).tree));
}

function unsigned(repository: RepositoryName): Refusal {
  return new Refusal('sign-off', 'a sign-off is required', [
    `${fullName(repository)} takes only commits under the Developer Certificate of Origin: its ${POLICY_PATH} says so.`,
    'Read it at https://developercertificate.org/. To affirm it under the name of the bot, push again with: -o sign-off',
  ]);
}

function warningOfDraft(push: Publishable): string[] {
  const isIdle = push.isDraft && isUpdate(push);
  return isIdle ? ['The option draft changes nothing: this pull request is open already.'] : [];
}

/** U+FFFD stands for what could not be read: the commit names another encoding, or one that nobody here knows. */
function warningOfEncoding({ named, title, commits }: Publishable): string[] {
  if (isUpdate({ named }) || title !== null) return [];
  const { encoding, message } = newestOf(commits);
  if (!pullRequestText({ encoding, message: message.bytes }).title.includes('\ufffd')) return [];
  const why =
    encoding === null ? 'is not UTF-8' : `is in ${oneLine(encoding)}, which the service cannot read`;
  return [`The title is not readable: the message of your commit ${why}. Give another one: -o title=<title>`];
}

/** Commits of branches that were not listed would count as the person's own. */
function adviceToNameBase({ repository }: OpenUpstream, { ref }: Base): string {
  const base = oneLine(ref.name.slice('refs/heads/'.length));
  const name = fullName(repository);
  return `${name} has more branches than this service reads. If your work is not based on "${base}", push to refs/for/<base>.`;
}

/** Those that no new commit has: they may not become public. @param anonymous null: none of them has one. */
function* idsOf(commits: Work['commits'], anonymous: AnonymousCommits | null): Generator<Oid> {
  for (const { oid } of commits) if (anonymous?.has(oid) !== true) yield oid;
}

function textOf({ planText }: Plan, text: string | null): PlannedText | null {
  return text === null ? null : planText(utf8(text));
}

/** The upstream commits that the new ones stand on may belong to another branch than the base. */
export function branchesHolding(
  history: UpstreamHistory,
  ground: ReadonlySet<Oid>,
  base: Ref,
  defaultBranch: Ref,
): readonly Ref[] {
  const others = history.branchesHolding(ground);
  return [...new Map([base, defaultBranch, ...others].map((branch) => [branch.name, branch])).values()];
}
