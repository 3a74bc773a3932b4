/**
 * One push to upstream that opens or updates the pull request (AGit flow). Nothing has to be made before, and nothing is
 * left where the host refuses.
 *
 * The server accepts an update only if the new commits stand on the old ones, or if it is told to force it. Unlike with
 * a branch, it cannot be told which commit is replaced. Our own pushes to a pull request wait for each other. On Forgejo,
 * maintainers may push to it, too: what they push between our look and a forced update is lost, and nobody is told.
 */
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import type { AgitHost } from '../../host/open.ts';
import type { AgitRequest, PullRequest } from '../../host/code-host.ts';
import { HostError, hostFailureOf } from '../../host-error.ts';
import { workBranch } from '../../pr-hash.ts';
import { tipOf } from '../judge/questions.ts';
import type { PushRun } from '../push-run.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate, type Publishable, wholeText } from '../verdict/verdict.ts';
import {
  baseOf,
  type Delivery,
  edit,
  type Proposal,
  refuseOthersWork,
  tellOpening,
  type Sent,
} from './delivery.ts';
import { overtaken, refusedCommits, tellSending, upload } from './upload.ts';

const NOT_SHOWN = 'The pull request may be open already, but the code host does not show it yet.';
const NO_COMMITS_SHOWN = 'The code host does not show the commits of this pull request now.';

export class AgitDelivery implements Delivery {
  readonly isReady = true;
  readonly #run: PushRun;
  readonly #host: AgitHost;
  readonly #push: Publishable;

  constructor(run: PushRun, host: AgitHost, push: Publishable) {
    this.#run = run;
    this.#host = host;
    this.#push = push;
  }

  async prepare(): Promise<void> {}

  failed(): void {}

  async deliver(sent: Sent, proposal: Proposal): Promise<PullRequest> {
    const { earlier, anonymous } = proposal;
    const { named } = this.#push;
    const updated = isUpdate(this.#push) ? (named?.pullRequest ?? null) : earlier?.isOpen ? earlier : null;
    if (updated === null) {
      await tellOpening(this.#run, this.#push);
      return this.#send(sent, { base: baseOf(this.#push), isForced: false, text: this.#text(proposal) });
    }
    const pullRequest = await this.#update(updated, sent, proposal);
    // The one that was to be updated was closed meanwhile, or is for another branch now.
    if (pullRequest.number !== updated.number) {
      await this.#run.reply.note(
        'The pull request was closed or changed meanwhile, so a new one was opened:',
        `  ${pullRequest.url}`,
      );
      return this.#run.steps.run('offer', () =>
        this.#host.delivered(this.#push.repository, pullRequest.number, this.#text(proposal)),
      );
    }
    return named === null ? pullRequest : edit(this.#run, this.#push, anonymous, pullRequest);
  }

  async #update(open: PullRequest, sent: Sent, { anonymous }: Proposal): Promise<PullRequest> {
    const { named } = this.#push;
    const judged = named?.tip ?? ZERO_OID;
    const before = judged === ZERO_OID ? await this.#tipOf(open) : judged;
    if (before === sent.tip) {
      await this.#run.reply.step('The code host has these commits already.');
      return open;
    }
    if (sent.onlyFrom !== null && before !== sent.onlyFrom) throw overtaken();
    if (named === null) await refuseOthersWork(this.#run, open, sent.prHash, before);
    const isForced = !anonymous.has(before);
    // What is there was judged some time ago, and nothing else would keep what has come since.
    if (isForced && (await this.#tipOf(open)) !== before) throw overtaken();
    return this.#send(sent, { base: open.base, isForced, text: null });
  }

  #text({ anonymous }: Proposal): AgitRequest['text'] {
    return { ...wholeText(this.#push, anonymous), isDraft: this.#push.isDraft };
  }

  /** An open one has commits: if they are not shown, nobody knows what an update would replace. @throws Refusal */
  #tipOf({ source }: PullRequest): Promise<Oid> {
    const { steps, host } = this.#run;
    return steps.run('lookup', async () => {
      const tip = source === null ? null : await tipOf(host, source);
      if (tip === null || tip === ZERO_OID) throw new HostError('unreachable', NO_COMMITS_SHOWN);
      return tip;
    });
  }

  async #send(sent: Sent, request: Omit<AgitRequest, 'topic'>): Promise<PullRequest> {
    const { host, steps, settings } = this.#run;
    const { repository } = this.#push;
    const said = this.#host.agitPush({ ...request, topic: workBranch(sent.prHash) });
    const target = { repository, ...said, oldTip: ZERO_OID, newTip: sent.tip };
    await tellSending(this.#run, sent.commitCount);
    try {
      const report = await steps.run('offer', () =>
        upload(host.transport, target, sent.pack(), settings.writeTimeoutMs),
      );
      const refusal = refusedCommits(report);
      const { reason = null, updatedRef = '' } = report.commandStatuses[0] ?? {};
      if (reason !== null && this.#host.isOvertaken(reason)) throw overtaken();
      if (refusal !== null) throw refusal;
      // A server that does not name it has opened none.
      const number = Number(/^refs\/pull\/(\d+)\/head$/.exec(updatedRef)?.[1]);
      if (!(number > 0)) {
        const cause = new HostError('refused', NOT_SHOWN, undefined, { whose: 'theirs' });
        throw takesNone(host.transport.hostName, cause);
      }
      return await steps.run('offer', () =>
        this.#host.delivered(repository, number, request.text).catch((cause: unknown) => {
          throw new HostError('unreachable', NOT_SHOWN, cause);
        }),
      );
    } catch (error) {
      if (error instanceof Refusal && error.code === 'overtaken') throw error;
      // The answer may be lost. The server also refuses commits that it has already.
      const login = await host.botLogin();
      const found = await this.#host
        .findDelivered(repository, login, sent.tip)
        .catch(() => 'unknown' as const);
      if (found === 'unknown') throw inDoubt(error);
      if (found !== null)
        return this.#host.delivered(repository, found.number, request.text).catch(() => found);
      if (isReported(error) && hostFailureOf(error.cause).lasts === 'moment') throw inDoubt(error);
      throw (await this.#takesNone(error)) ? takesNone(host.transport.hostName, error) : error;
    }
  }

  /** Whether the host has refused a push because it takes no pull requests this way. */
  async #takesNone(error: unknown): Promise<boolean> {
    const cause = error instanceof Refusal ? error.cause : null;
    if (!(cause instanceof HostError && isDefinite(cause))) return false;
    const asked = this.#run.host.transport.pushCapabilities(this.#push.repository);
    return asked.then(
      (capabilities) => !capabilities.has('push-options'),
      () => false,
    );
  }
}

function isDefinite({ code }: HostError): boolean {
  return code === 'refused' || code === 'missing';
}

/** Refused by the report of the push and not by a status: the server may have opened the pull request before. */
function isReported(error: unknown): error is Refusal & { readonly cause: HostError } {
  if (!(error instanceof Refusal && error.cause instanceof HostError)) return false;
  return error.cause.code === 'refused' && error.cause.failure.status === null;
}

/** The same failure, after which the next push looks for the pull request before it opens another. */
function inDoubt(error: unknown): unknown {
  if (!isReported(error)) return error;
  const { cause, reason, lines } = error;
  const { lasts, whose } = cause.failure;
  const means = { effect: 'unknown', lasts: 'moment', whose } as const;
  const next = lasts === 'moment' ? [] : [NOT_SHOWN, 'Push the same commits again later.'];
  return new Refusal('offer', reason, [...lines, ...next], {
    cause: new HostError('refused', cause.publicMessage, cause, means),
  });
}

function takesNone(hostName: string, error: unknown): Refusal {
  const lines = [
    `${hostName} does not let this service open pull requests there by a push (AGit flow).`,
    'Tell the operator of this service: "npm run doctor" says what that host lacks.',
  ];
  const cause = error instanceof Refusal ? error.cause : error;
  return new Refusal('push', 'the code host takes no pull requests by a push', lines, { cause });
}
