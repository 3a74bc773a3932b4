/** Posts one comment: whether it may be posted, with which karma, and with what result. */
import type { PostedComment } from '../../host/code-host.ts';
import { type Failure, HostError } from '../../host-error.ts';
import type { Wants } from '../../limits/wants.ts';
import type { Grant, Refused } from '../../limits/port.ts';
import { MAX_TEXT_CHARACTERS, characters, commentText } from '../../text/footer.ts';
import { succeeds } from '../../isolate/within.ts';
import { COOLDOWN_MS, postingDecision } from './moderation.ts';
import { type ChoreSupplies, findComment } from './chores.ts';
import type { Attempt } from './comments.ts';

/** An identity that has never posted is deleted again after this time without calls. */
const FORGETTING_DELAY_MS = 60_000;

export interface CommentRequest {
  /** The code host's key. */
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
  /** The author's own words. */
  readonly body: string;
  /** Scheme and host for the footer's link, such as `https://veil.example`. */
  readonly origin: string;
  /** What it counts in. */
  readonly wants: Wants;
}

export type CommentOutcome =
  | { readonly kind: 'posted'; readonly url: string; readonly karma: number }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'cooldown'; readonly leftMs: number }
  /** Longer than the host allows. `maxCharacters` are left for the author's words. */
  | { readonly kind: 'too-long'; readonly maxCharacters: number }
  /** The thread, or the account, has no room for it now. */
  | { readonly kind: 'wait'; readonly wait: Refused }
  /** Too many comments of this pseudonym are waiting. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface Surroundings extends ChoreSupplies {
  /**
   * Never rejects: if the account cannot be asked, that is why the comment has to wait.
   * @param wants with `takesPart` if its author may count as somebody who takes part in the thread.
   */
  reserve(wants: Wants): Promise<Grant | Refused>;
  /** Lets a rollback know of a comment. Rejects if it cannot be told. */
  track(attempt: Attempt, posted: PostedComment): Promise<void>;
  /** Makes the alarm go off by this time; null: no alarm is needed. */
  wakeBy(at: number | null): Promise<void>;
}

export async function postComment(
  surroundings: Surroundings,
  request: CommentRequest,
): Promise<CommentOutcome> {
  const { pseudonym, clock } = surroundings;
  const { hash, moderation, comments, karma } = pseudonym;
  const karmaBefore = await karma.current(clock.now());
  const { facts } = moderation;
  const decision = postingDecision(facts, clock.now());
  if (decision === 'blocked') return { kind: 'blocked' };
  if (decision === 'cooldown') return { kind: 'cooldown', leftMs: facts.cooldownUntil - clock.now() };

  const { owner, repo, number, body, origin } = request;
  const newKarma = decision === 'zero' ? 0 : karmaBefore + 1;
  const text = commentText(body, { hash, karma: newKarma, origin });
  const excess = characters(text) - MAX_TEXT_CHARACTERS;
  if (excess > 0) {
    await surroundings.wakeBy(clock.now() + FORGETTING_DELAY_MS);
    return { kind: 'too-long', maxCharacters: characters(body) - excess };
  }
  const grant = await surroundings.reserve({ ...request.wants, takesPart: decision !== 'zero' });
  if (grant.kind === 'wait') {
    await surroundings.wakeBy(clock.now() + FORGETTING_DELAY_MS);
    return { kind: 'wait', wait: grant };
  }

  const attempt = comments.begin({ repository: { owner, name: repo }, number }, clock.now());
  // Sets the alarm that a success needs. If the attempt fails, that alarm does nothing. This saves setting it twice.
  await surroundings.wakeBy(Math.min(attempt.dueAt, karma.dueAfter(clock.now())));
  try {
    const posted = await makeComment(surroundings, attempt, text);
    if ('effect' in posted) {
      // Without an answer of the host it may be there.
      if (posted.effect === 'none') await grant.release();
      return { kind: 'failed', failure: posted };
    }
    // If the guard cannot be told, the attempt stays open: the alarm finds its comment, and tells the guard then.
    const isTracked = await succeeds(surroundings.track(attempt, posted));
    const ordered = comments.settle(attempt, isTracked ? posted.id : null, clock.now());
    if (isTracked && ordered !== null) await surroundings.wakeBy(clock.now());
    // Blocked while it was being posted: it is deleted like the others.
    if (ordered === 'delete') return { kind: 'blocked' };
    // Flagged while it was being posted: its footer is edited like the others'.
    if (ordered === 'reset') return { kind: 'posted', url: posted.url, karma: 0 };
    karma.set(newKarma, clock.now());
    if (decision === 'zero') {
      moderation.write({ ...moderation.facts, cooldownUntil: clock.now() + COOLDOWN_MS });
    }
    return { kind: 'posted', url: posted.url, karma: newKarma };
  } finally {
    await surroundings.wakeBy(karma.nextDueAt());
  }
}

/**
 * Asks the host once. If its answer is lost, this searches the thread. If that does not help, the attempt stays open.
 */
async function makeComment(
  { pseudonym, host }: Surroundings,
  attempt: Attempt,
  text: string,
): Promise<PostedComment | Failure> {
  try {
    return await host.createComment(attempt.repository, attempt.number, text);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { failure } = error;
    if (failure.effect === 'none') {
      pseudonym.comments.forget(attempt);
      return failure;
    }
    const found = await findComment({ pseudonym, host }, attempt, (other) => sameText(other, text)).catch(
      () => null,
    );
    return found ?? failure;
  }
}

/** The host may have changed the line breaks. */
function sameText(a: string, b: string): boolean {
  return a.replaceAll('\r\n', '\n').trim() === b.replaceAll('\r\n', '\n').trim();
}
