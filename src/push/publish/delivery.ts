/**
 * How an anonymous push becomes a pull request at a host. There are two ways, and the host's class says which one is its
 * own: from a branch of the bot's fork (`from-fork.ts`), or by one push to upstream (`agit.ts`).
 */
import type { AnonymousCommits } from '../../git/objects/anonymize.ts';
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import type { PullRequest } from '../../host/code-host.ts';
import { HostError } from '../../host-error.ts';
import { oneLine } from '../../host-text.ts';
import { othersCommits, othersWork } from '../judge/questions.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal, type RefusalCode } from '../reply/refusal.ts';
import { namedText, type Publishable } from '../verdict/verdict.ts';

export interface Proposal {
  readonly prHash: string;
  readonly botLogin: string;
  readonly anonymous: AnonymousCommits;
  /** Whether an earlier attempt was not answered. It may have stopped at any point. */
  readonly isRepeated: boolean;
  /** The pull request that it opened. */
  readonly earlier: PullRequest | null;
}

/** What is sent. Each attempt makes the pack again. */
export interface Sent {
  readonly prHash: string;
  readonly tip: Oid;
  readonly commitCount: number;
  readonly pack: () => AsyncIterable<Uint8Array>;
  /** Where the pull request must be, unless its branch is gone or has these commits already; null: anywhere. */
  readonly onlyFrom: Oid | null;
  /** Before each step that makes something public. @throws Refusal if the push was ended */
  readonly mayGoOn: () => Promise<void>;
}

export interface Delivery {
  /** False: something has to be made at the host first, which may take long. */
  readonly isReady: boolean;
  /** @throws Refusal */
  prepare(): Promise<void>;
  /**
   * Sends the commits, and opens or updates the pull request. Only after `prepare`.
   * @throws Refusal; see `leavesWork` for what a retry must continue.
   */
  deliver(sent: Sent, proposal: Proposal): Promise<PullRequest>;
  /** The push has failed. */
  failed(): void;
}

/**
 * Whether a retry must find what a failed step left: the step may have taken effect on the host anyway, or the host
 * asks for a pause, so nothing can be undone now.
 */
export function leavesWork(error: unknown): boolean {
  const cause = error instanceof Refusal ? error.cause : null;
  return cause instanceof HostError && cause.failure.lasts !== 'final';
}

/** The steps that open one. */
const OPENING: ReadonlySet<RefusalCode> = new Set(['pull-request', 'offer']);

/** Whether a pull request may be open after all. */
export function mayBeOpen(error: unknown): boolean {
  const cause = error instanceof Refusal && OPENING.has(error.code) ? error.cause : null;
  return cause instanceof HostError && cause.failure.effect === 'unknown';
}

/**
 * An earlier attempt may have opened the pull request, and others may have pushed to it.
 * @param tip where its commits end now; zero: nowhere. @throws Refusal
 */
export async function refuseOthersWork(
  run: PushRun,
  { source }: Pick<PullRequest, 'source'>,
  prHash: string,
  tip: Oid,
): Promise<void> {
  const isThere = source !== null && tip !== ZERO_OID;
  const others = isThere ? await othersCommits(run, source.repository, tip, () => false) : [];
  if (others?.length === 0) return;
  throw othersWork([
    'You opened it with an earlier push, and somebody else has pushed to its branch since.',
    `To update it, push again with -o pr-hash=${prHash}. The answer shows what you can do.`,
  ]);
}

/** An open pull request keeps its text and base unless the push names others. The commits are there in any case. */
export async function edit(
  { host, steps, reply }: PushRun,
  push: Publishable,
  anonymous: AnonymousCommits,
  pullRequest: PullRequest,
): Promise<PullRequest> {
  const { title, body } = namedText(push, anonymous);
  const base = baseOf(push);
  const changes = {
    ...(title !== null && { title }),
    ...(body !== null && { body }),
    ...(push.isBaseNamed && base !== pullRequest.base && { base }),
  };
  if (Object.keys(changes).length === 0) return pullRequest;
  try {
    await steps.run('edit', () =>
      host.repositories.editPullRequest(push.repository, pullRequest.number, changes),
    );
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await reply.note('Title, description or base could not be changed:', ...error.lines);
  }
  return pullRequest;
}

export function tellOpening({ reply }: Pick<PushRun, 'reply'>, push: Publishable): Promise<void> {
  return reply.step(`Opening the pull request for "${oneLine(baseOf(push))}" ...`);
}

/** The name of the branch that the push is for. */
export function baseOf({ base }: Publishable): string {
  return base.name.slice('refs/heads/'.length);
}
