/**
 * What must be done with an identity's comments: set karma to 0 in footers, delete comments, and look for some that may
 * exist. One run does what is due; what fails is tried again later.
 */
import type { Clock } from '../../isolate/clock.ts';
import type { CommentWithText } from '../../host/code-host.ts';
import type { ThreadHost } from '../../host/open.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import { shownKarma, withKarma } from '../../text/footer.ts';
import type { Attempt, Chore } from './comments.ts';
import type { Pseudonym } from './pseudonym.ts';

/** GitHub asks for a second between writes: a run makes a few at once, and the next begins when their seconds are over. */
const CHORES_PER_RUN = 10;
const RUN_PAUSE_MS = 10_000;
/** After refusing for this long, the host will not do it any more. */
const CHORE_LIFE_MS = 30 * 24 * 60 * 60 * 1000;
/** How far the host's clock may be behind. */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

export interface ChoreSupplies {
  readonly pseudonym: Pseudonym;
  readonly host: ThreadHost;
  readonly clock: Clock;
}

/** Called with the comment of each attempt that turns out to have posted one. If it rejects, it is called again later. */
type OnFound = (attempt: Attempt, found: CommentWithText) => Promise<void>;

export async function doChores(
  supplies: ChoreSupplies,
  attempts: readonly Attempt[],
  onFound: OnFound,
): Promise<void> {
  for (const attempt of attempts) {
    if (!(await settleAttempt(supplies, attempt, onFound))) return;
  }
  const { clock, pseudonym } = supplies;
  const chores = pseudonym.comments.dueChores(clock.now(), CHORES_PER_RUN);
  for (const chore of chores) {
    if (!(await doChore(supplies, chore))) return;
  }
  if (chores.length === CHORES_PER_RUN) pseudonym.comments.postponeAll(clock.now() + RUN_PAUSE_MS);
}

/** The comment that an attempt has posted; null: there is none (yet). Rejects with HostError. */
export async function findComment(
  { pseudonym, host }: Pick<ChoreSupplies, 'pseudonym' | 'host'>,
  { repository, number, startedAt }: Attempt,
  isIt: (text: string) => boolean,
): Promise<CommentWithText | null> {
  const own = await host.ownComments(repository, number, startedAt - CLOCK_SKEW_MS);
  return pseudonym.comments.unknownAmong(own).find(({ text }) => isIt(text)) ?? null;
}

/** False if the host wants no requests now. Without the guard, it may be asked for others. */
async function settleAttempt(supplies: ChoreSupplies, attempt: Attempt, onFound: OnFound): Promise<boolean> {
  const { clock, pseudonym } = supplies;
  const { comments, hash } = pseudonym;
  try {
    const found = await findComment(supplies, attempt, (text) => shownKarma(text, hash) !== null);
    if (found === null) comments.forget(attempt);
    else await onFound(attempt, found);
    return true;
  } catch (error) {
    const { lasts, retryAfterMs } = hostFailureOf(error);
    const now = clock.now();
    // If the thread is gone, its comments are gone, too.
    const isGone = error instanceof HostError && error.code === 'missing';
    if (isGone || now - attempt.startedAt > CHORE_LIFE_MS) comments.forget(attempt);
    else comments.lookAgain(attempt, now);
    if (lasts === 'until') comments.postponeAll(now + (retryAfterMs ?? 0));
    return lasts === 'final' || !(error instanceof HostError);
  }
}

/** False if the host wants no requests now. */
async function doChore({ pseudonym, host, clock }: ChoreSupplies, chore: Chore): Promise<boolean> {
  const { comments, hash } = pseudonym;
  const { kind, repository, commentId, orderedAt } = chore;
  try {
    let karmaBefore: number | null = null;
    if (kind === 'delete') await host.deleteComment(repository, commentId);
    else {
      const karma = kind === 'restore' ? (chore.karma ?? 0) : 0;
      await host.editComment(repository, commentId, (text) => {
        karmaBefore = shownKarma(text, hash);
        return withKarma(text, hash, karma);
      });
    }
    comments.done(chore, karmaBefore);
    return true;
  } catch (error) {
    const { lasts, retryAfterMs } = hostFailureOf(error);
    const now = clock.now();
    const dueAt = comments.postpone(chore, now);
    if (lasts === 'final') {
      // A problem of this comment only: its thread may be locked, or its repository archived.
      if (now - orderedAt > CHORE_LIFE_MS) comments.done(chore);
      return true;
    }
    comments.postponeAll(Math.max(dueAt, now + (retryAfterMs ?? 0)));
    return false;
  }
}
