/**
 * Act two: what was received and what upstream is become a verdict. Everything that can refuse a push, but the host
 * itself, refuses it here, on the whole push, whatever its size. Nothing has been written at the host then.
 */
import { utf8 } from '../../git/bytes.ts';
import { AnonymousCommits } from '../../git/objects/anonymize.ts';
import type { Plan, PlannedText } from '../../git/objects/planned-commits.ts';
import type { Oid } from '../../git/objects/oid.ts';
import { outgoingBytes } from '../../git/pack/outgoing-pack.ts';
import type { Ref } from '../../git/wire/ref-advertisement.ts';
import { hostText } from '../../host-error.ts';
import { fullName } from '../../repository-name.ts';
import { readBases } from '../../upstream/delta-bases.ts';
import { UpstreamHistory } from '../../upstream/upstream-history.ts';
import { listUpstreamRefs } from '../../upstream/upstream-refs.ts';
import type { ClaimedUpdate } from '../claims.ts';
import type { PushRun } from '../push-run.ts';
import type { Received } from '../receive/receive.ts';
import { Refusal } from '../reply/refusal.ts';
import { datesOf } from '../verdict/dates.ts';
import { previewLines } from '../verdict/preview.ts';
import { isUpdate, type Publishable, type Verdict } from '../verdict/verdict.ts';
import { searchNames } from './names/search-names.ts';
import { readUpstreamFiles } from './names/upstream-files.ts';
import { warningOfNames } from './names/message-names.ts';
import { planWork } from './plan.ts';
import { findNamed, requiredKey } from './pull-request.ts';
import { type Base, chooseBase, type OpenUpstream, openUpstream, type Upstream } from './upstream.ts';
import { findWork, type Work } from './work.ts';

export interface Judged {
  readonly verdict: Verdict;
  /** Of the pull request that is updated, or whose branch is used again. */
  readonly claim: ClaimedUpdate | null;
}

/**
 * @param listed the claim of the pull request that the push names, if the service has that in its list.
 * @throws ProtocolError; HostError `busy`; what a fault of the service throws.
 */
export async function judge(
  run: PushRun,
  received: Received,
  upstream: Upstream,
  listed: ClaimedUpdate | null,
): Promise<Judged> {
  try {
    return await judged(run, received, upstream, listed);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { verdict: { kind: 'refused', refusal: error }, claim: null };
  }
}

async function judged(
  run: PushRun,
  received: Received,
  upstream: Upstream,
  listed: ClaimedUpdate | null,
): Promise<Judged> {
  const { host, settings, steps, reply } = run;
  const { options, pack, taken } = received;
  const open = openUpstream(upstream, settings.maxRepositoryMb);
  const { repository, botLogin } = open;
  const key = requiredKey(settings, options);
  const claimed = await findNamed(run, open, options.prHash, key, listed);
  const [named, claim] = [claimed?.named ?? null, claimed?.claim ?? null];
  const current = isUpdate({ named }) ? (named?.pullRequest.base ?? null) : null;
  const base = await chooseBase(run, taken.target, options.base, current, open);
  if (!open.hasAllBranches && !base.isNamed) await reply.note(adviceToNameBase(open, base));
  const history = historyOf(run, open, base);
  await steps.run('history', () => history.reachBack());
  const work = await findWork(received, history, steps, settings.remoteUrl(repository));
  const plan = await planWork(work, options, (ground) =>
    steps.run('history', () => host.lister.newestOf(repository, ground)),
  );
  const identity = { name: botLogin, email: settings.anonEmail };
  const known = claim?.dates ?? [];
  const { dateOf } = datesOf(plan.commits, identity, known, Math.floor(host.clock.now() / 1000));
  const anonymous = (): AnonymousCommits => new AnonymousCommits(plan.commits, identity, dateOf);
  const [ground = base.ref.oid] = work.ground;
  const names = await searchNames({
    settings,
    options,
    nobodys: [botLogin, settings.anonEmail],
    work,
    plan,
    // A commit that has no date yet gets another id in any case.
    originalIds: idsOf(work.commits, known.length === 0 ? null : anonymous()),
    pack,
    history,
    steps,
    memory: host.memory,
    questions: {
      readBases: (sizes) => readBases(run, repository, sizes),
      readUpstream: (paths, maxBytes) => readUpstreamFiles(run, repository, ground, paths, maxBytes),
    },
  });
  const push: Publishable = {
    repository,
    base: base.ref,
    isBaseNamed: base.isNamed,
    named,
    title: textOf(plan, options.title),
    description: textOf(plan, options.description),
    footer: open.policy?.pullRequestFooter ? settings.pullRequestFooter : '',
    commits: plan.commits,
    upstream: branchesFor(history, work, base, open),
    ground: [...work.ground],
    entryCount: pack.entryCount,
    namedBases: [...pack.namedBases.oids()],
    mayChangeSubmodules: open.hasSubmodules || names.hasGitlinks,
  };
  const warnings = warningOfNames(plan.messages());
  if (!options.preview) {
    return { verdict: { kind: 'publishable', push, warnings: [...names.warnings, ...warnings] }, claim };
  }
  const shown = anonymous();
  const bytes = outgoingBytes(shown.contents(), pack.spool.byteLength);
  const previewed = { push, botLogin, anonymous: shown, dateOf, bytes };
  const lines = previewLines({ ...previewed, findings: names.report, warnings });
  return { verdict: { kind: 'preview', lines }, claim };
}

/** Commits of branches that were not listed would count as the person's own. */
function adviceToNameBase({ repository }: OpenUpstream, { ref }: Base): string {
  const base = hostText(ref.name.slice('refs/heads/'.length));
  const name = fullName(repository);
  return `${name} has more branches than this service reads. If your work is not based on "${base}", push to refs/for/<base>.`;
}

function historyOf(run: PushRun, { repository, refs, defaultBranch }: OpenUpstream, base: Base) {
  const { host } = run;
  return new UpstreamHistory(host.lister, repository, refs, [base.ref, defaultBranch], async () => {
    return (await listUpstreamRefs(host, repository)).refs;
  });
}

/** Those that no new commit has: they may not become public. @param anonymous null: none of them has one. */
function* idsOf(commits: Work['commits'], anonymous: AnonymousCommits | null): Generator<Oid> {
  for (const { oid } of commits) if (anonymous?.has(oid) !== true) yield oid;
}

function textOf({ planText }: Plan, text: string | null): PlannedText | null {
  return text === null ? null : planText(utf8(text));
}

/** The upstream commits that the new ones stand on may belong to another branch than the base. */
function branchesFor(
  history: UpstreamHistory,
  { ground }: Work,
  { ref }: Base,
  { defaultBranch }: OpenUpstream,
): readonly Ref[] {
  const others = history.branchesHolding(ground);
  return [...new Map([ref, defaultBranch, ...others].map((branch) => [branch.name, branch])).values()];
}
