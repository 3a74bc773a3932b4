/**
 * The attempt to publish a push that was delayed. Earlier attempts may have stopped at any point,
 * and long ago. Nobody waits for an answer, and its page shows hash and key.
 * Proved by test/e2e/delayed/delayed-changes.test.ts and test/e2e/delayed/delayed-kill.test.ts.
 */
import type { PushIntent } from '../../durable/pending-push/pending-push.ts';
import type { Oid } from '../../git/objects/oid.ts';
import type { HostPullRequest } from '../../host/code-host.ts';
import type { Delivery } from '../publish/delivery.ts';
import { type Attempt, type Begun, newIntent, openedEarlier, type Publication } from '../publish/publish.ts';
import type { PushRun } from '../push-run.ts';
import { type Compared, proposedBefore, wasProposed } from '../same-work.ts';

/** The row of the push, as far as publishing may change it. */
export interface ReleasedRow {
  /** The decision of an earlier attempt; null: none has begun. */
  readonly intent: PushIntent | null;
  /** As `Attempt.mayGoOn`. */
  readonly mayGoOn: () => Promise<void>;
  /**
   * Answers what the first attempt has decided; this one if it is the first.
   * @throws Refusal if the push was ended
   */
  readonly begin: (proposed: PushIntent) => Promise<PushIntent>;
  /** Stores that an earlier attempt has decided otherwise than was proposed. */
  readonly keepTo: (intent: PushIntent) => Promise<void>;
}

export class DelayedAttempt implements Attempt {
  readonly onlyFrom: Oid | null;
  readonly #run: PushRun;
  readonly #publication: Publication;
  readonly #row: ReleasedRow;

  constructor(run: PushRun, publication: Publication, row: ReleasedRow) {
    this.#run = run;
    this.#publication = publication;
    this.#row = row;
    this.onlyFrom = publication.push.named?.tip ?? null;
  }

  async begin(delivery: Delivery, compared: Compared): Promise<Begun> {
    const { push } = this.#publication;
    // What is refused must not have made a fork.
    this.#refuseProposed(compared);
    await this.mayGoOn();
    await delivery.prepare();
    const intent = await this.#decide();
    const earlier = await openedEarlier(this.#run, push, intent.prHash);
    const prHash = push.named?.prHash ?? intent.prHash;
    const isTheirs = prHash !== push.prHash || push.hasKey;
    const key = isTheirs ? await this.#run.store.prKey(prHash) : null;
    await this.#run.tell();
    return { ...intent, prHash, key, isRepeated: true, earlier };
  }

  mayGoOn(): Promise<void> {
    return this.#row.mayGoOn();
  }

  /** Finds it in any state: what a maintainer has closed must not come again by itself. */
  finished({ earlier }: Begun): HostPullRequest | null {
    return earlier;
  }

  opened(): void {}

  /**
   * @throws Refusal if another pull request has all its commits, or any where doubles are refused
   */
  #refuseProposed({ found }: Compared): void {
    const { push } = this.#publication;
    if (!found || found.prHash === this.#row.intent?.prHash) return;
    const isStrict = this.#run.settings.pushDoubles === 'refuse' && found.state === 'open';
    if (isStrict || wasProposed(push, found)) throw proposedBefore(found);
  }

  /** Decides hash and date, or takes those of the first attempt. */
  async #decide(): Promise<PushIntent> {
    const { push, pushHash } = this.#publication;
    const proposed = await this.#row.begin(newIntent(this.#run));
    const { intent } = await this.#run.claims.begin(pushHash, push.repository, proposed);
    if (intent === null || intent.prHash === proposed.prHash) return intent ?? proposed;
    await this.#row.keepTo(intent);
    return intent;
  }
}
