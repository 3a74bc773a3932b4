/**
 * What one push wants from the relay of its pack: how to rewrite the commits, where to send them, and what must not
 * leave.
 */
import { isDeletion } from '../git/push-request.ts';
import type { Oid } from '../git/oid.ts';
import type { PushTarget } from '../git/ref-name.ts';
import { shellWord } from './reply/banner.ts';
import type { CommandPlan } from './command/command-plan.ts';
import type { IdentityGuard } from './rewriting/identity-guard.ts';
import { warningOfNames } from './rewriting/message-names.ts';
import type { RelayPlan } from './fork/pack-relay.ts';
import type { Preparation, PushSettings } from './preparation.ts';
import { squashedMessage } from './pull-request/proposal.ts';
import type { PushOptions } from './command/push-options.ts';
import type { PushRun } from './push-run.ts';
import { Refusal } from './reply/refusal.ts';
import { rewriteHistory, type RewrittenHistory, type RewritePlan } from './rewriting/rewriting.ts';
import type { Upload } from './fork/upload.ts';
import { readBases } from './upstream/delta-bases.ts';
import { UpstreamHistory } from './upstream/upstream-history.ts';
import { listUpstreamRefs } from './upstream/upstream-refs.ts';
import type { WorkBranch } from './fork/work-branch.ts';

export interface RelayedPush {
  readonly run: PushRun;
  readonly settings: PushSettings;
  readonly taken: NonNullable<CommandPlan['taken']>;
  /** Commands of the push, the taken one among them. */
  readonly commandList: readonly CommandOfPush[];
  readonly prepared: Preparation;
  readonly options: PushOptions;
  readonly branch: WorkBranch;
  readonly guard: IdentityGuard | null;
}

type CommandOfPush = NonNullable<CommandPlan['taken']>['command'];

/** @throws Refusal if the host does not list upstream's history. */
export async function planRelay(push: RelayedPush): Promise<RelayPlan> {
  const { run, settings, taken, commandList, prepared, options, branch, guard } = push;
  const { base, upstream } = prepared;
  const { repository, refs, defaultBranch } = upstream;
  const main = [base.ref, defaultBranch];
  const history = new UpstreamHistory(run.host.lister, repository, refs, main, async () => {
    return (await listUpstreamRefs(run.host, repository)).refs;
  });
  await run.steps.run('history', () => history.reachBack());
  const rewritePlan = planRewrite(push);
  return {
    memory: run.host.memory,
    tip: taken.command.newId,
    otherTips: commandList
      .filter((command) => command !== taken.command && !isDeletion(command))
      .map(({ newId }) => newId),
    history,
    steps: run.steps,
    guard,
    texts: {
      ...(options.title !== null && { title: options.title }),
      ...(options.description !== null && { description: options.description }),
    },
    rewrite: (commits, ground) => rewriteHistory(rewritePlan, commits, ground),
    openUpload: options.preview
      ? async () => null
      : (rewritten, cleared) => openUpload(run, prepared, branch, { history, rewritten, cleared }),
    readBases: (sizes) => readBases(run, repository, sizes),
    refuseOthers: () => tooMuch(settings.remoteUrl(repository), taken.target),
  };
}

function planRewrite({ run, settings, prepared, options }: RelayedPush): RewritePlan {
  const { botLogin, claimed, continuation, upstream } = prepared;
  const { host, steps } = run;
  return {
    identity: { name: botLogin, email: settings.anonEmail },
    committedAt: claimed.intent.committedAt,
    known: continuation.prHash === options.prHash ? (claimed.update?.dates ?? []) : [],
    squash: options.squash
      ? {
          message: (tip) => squashedMessage(options, tip),
          newestOf: (ground: ReadonlySet<Oid>) =>
            steps.run('history', () => host.lister.newestOf(upstream.repository, ground)),
        }
      : null,
  };
}

interface Outgoing {
  readonly history: UpstreamHistory;
  readonly rewritten: RewrittenHistory;
  /** Nothing may leave before. */
  readonly cleared: Promise<void>;
}

async function openUpload(
  { reply }: PushRun,
  { base, upstream }: Preparation,
  branch: WorkBranch,
  { history, rewritten, cleared }: Outgoing,
): Promise<Upload | null> {
  await reply.progress(...warningOfNames(rewritten.messages));
  // The upstream commits that the new ones are based on may belong to another branch.
  const others = history.branchesHolding(rewritten.ground);
  const needed = new Map([base.ref, upstream.defaultBranch, ...others].map((ref) => [ref.name, ref]));
  return branch.open([...needed.values()], rewritten, cleared);
}

/** A pack does not say which files belong to which ref, so none of them may leave. */
function tooMuch(remoteUrl: string, target: PushTarget): Refusal {
  const refspec = target.kind === 'branch' ? target.branch : '<your branch>:refs/for/<base>';
  return new Refusal('push one branch only', [
    'This push contains commits, tags or files that its first branch does not need. Nothing was sent.',
    'Push that branch alone:',
    `  git push --no-follow-tags ${remoteUrl} ${shellWord(refspec)}`,
  ]);
}
