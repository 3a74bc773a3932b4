/**
 * The attempt to publish a push whose person waits for the answer. A hash that this push has chosen
 * is told with its key before anything is published, so that whoever loses the end of the answer
 * has them. A retry that continues another attempt's hash is told neither, because it may be a
 * guess.
 * Proved by test/e2e/push/pr-repeat.test.ts and test/e2e/push/pr-kill.test.ts.
 */
import type { PushIntent } from '../../durable/pending-push/pending-push.ts';
import type { PushRun } from '../push-run.ts';
import { keyLines } from '../reply/banner.ts';
import { refuseUntold } from '../same-work.ts';
import { isUpdate } from '../verdict.ts';
import type { Delivery, Proposal } from './delivery.ts';
import {
  type Attempt,
  type Begun,
  enter,
  type Entered,
  newIntent,
  openedEarlier,
  type Publication,
  secondOf,
} from './publish.ts';

/**
 * Enters, and begins while the limits are asked, to save a round trip.
 * @throws Refusal
 */
export async function enterNow(run: PushRun, publication: Publication): Promise<Entered> {
  const deciding = decide(run, publication);
  const [entered] = await Promise.allSettled([enter(run, publication), deciding]);
  if (entered.status === 'rejected') throw entered.reason;
  const decided = await deciding;
  // Whoever repeats a push continues its own pull request.
  if (!decided.isRepeated) refuseUntold(publication.compared, entered.value.compared);
  return { ...entered.value, attempt: new LiveAttempt(run, publication, decided) };
}

interface Intended extends PushIntent, Pick<Proposal, 'isRepeated' | 'earlier'> {
  /** Whether an earlier attempt has opened its pull request, and was answered. */
  readonly isAnswered: boolean;
  /** Whether the hash is the one that this push has chosen. A form chooses the same each time. */
  readonly isOwn: boolean;
}

/**
 * Decides hash and date. From here on, a retry uses the same.
 * @throws Refusal
 */
async function decide(run: PushRun, { push, pushHash }: Publication): Promise<Intended> {
  const own = newIntent(run);
  const named = push.named && { prHash: push.named.prHash };
  const begun = await run.claims.begin(pushHash, push.repository, own);
  const { isRepeated, isAnswered } = begun;
  const intent = begun.intent ?? own;
  const earlier = isRepeated ? await openedEarlier(run, push, intent.prHash) : null;
  const isOwn = intent.prHash === own.prHash;
  if (!isAnswered || earlier?.isOpen) return { ...intent, ...named, isOwn, isRepeated, isAnswered, earlier };
  // What was closed since its answer may come again, as another one.
  await run.claims.decide(own);
  return { ...own, ...named, isOwn: true, isRepeated: false, isAnswered: false, earlier: null };
}

class LiveAttempt implements Attempt {
  readonly onlyFrom = null;
  readonly #run: PushRun;
  readonly #publication: Publication;
  readonly #intended: Intended;

  constructor(run: PushRun, publication: Publication, decided: Intended) {
    this.#run = run;
    this.#publication = publication;
    this.#intended = decided;
  }

  async begin(delivery: Delivery): Promise<Begun> {
    const { prHash, isRepeated, earlier } = this.#intended;
    await this.#settleSlot();
    const key = await this.#key();
    // Now the pull request has its slot, so that what is told of it comes true.
    await this.#tell(key);
    const { isReady } = delivery;
    await delivery.prepare();
    // What was made first may have taken long.
    const committedAt = isReady || isRepeated ? this.#intended.committedAt : await this.#decideDate();
    // Whoever has left did not read the key, and nothing of the push is public yet.
    this.#run.consent.stillThere();
    return { prHash, committedAt, key, isRepeated, earlier };
  }

  async mayGoOn(): Promise<void> {}

  finished(): null {
    return null;
  }

  /** Lets the same push find it, for a while. */
  opened(): void {
    if (!isUpdate(this.#publication.push)) this.#run.claims.opened();
  }

  async #settleSlot(): Promise<void> {
    const { isRepeated, isAnswered, earlier } = this.#intended;
    const { slot } = this.#publication;
    // An earlier attempt that was answered, or whose pull request is closed, has its own slot: this
    // one opens another.
    await slot?.settle(!isRepeated || isAnswered || earlier?.isOpen === false);
    // It is open already: a guess must cost a slot until it is known to be right.
    if (isAnswered) await slot?.release();
  }

  /**
   * Makes the key, if this push has chosen the hash or has given the key. Any other may be
   * somebody's guess.
   */
  async #key(): Promise<string | null> {
    const { push } = this.#publication;
    const { prHash, isOwn } = this.#intended;
    const isTheirs = prHash === push.prHash ? push.hasKey : isOwn;
    return isTheirs ? this.#run.store.prKey(prHash) : null;
  }

  /** Tells hash and key, then what judging has found. */
  async #tell(key: string | null): Promise<void> {
    const { prHash } = this.#intended;
    if (key !== null && prHash !== this.#publication.push.prHash)
      await this.#run.reply.noteSecret(...keyLines(prHash, key));
    await this.#run.tell();
  }

  /** Decides the date anew: the second before the first byte is sent. */
  async #decideDate(): Promise<number> {
    const { host, claims } = this.#run;
    const committedAt = secondOf(host.clock.now());
    await claims.decide({ prHash: this.#intended.prHash, committedAt });
    return committedAt;
  }
}
