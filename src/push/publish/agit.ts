/**
 * One push to upstream that opens or updates the pull request (AGit flow). An update that does not
 * stand on the old commits must be forced, and unlike with a branch, the server cannot be told
 * which commit that replaces. Our own pushes wait for each other. But on Forgejo, what maintainers
 * push between our look and a forced update is lost, and nobody is told.
 */
import { type Oid, ZERO_OID } from '../../git/objects/oid.ts';
import { HostError } from '../../words/host-error.ts';
import type { AgitRequest, HostPullRequest } from '../../host/code-host.ts';
import type { AgitHost } from '../../host/open.ts';
import { workBranch } from '../../words/pr-hash.ts';
import { wholeText } from '../../text/pull-request-text.ts';
import { tipOf } from '../judge/updated-branch.ts';
import { Refusal } from '../reply/refusal.ts';
import { isUpdate } from '../verdict.ts';
import { Delivery, hostErrorOf, overtaken, type Proposal, refusedCommits } from './delivery.ts';

const NOT_SHOWN = 'The pull request may be open already, but the code host does not show it yet.';
const NO_COMMITS_SHOWN = 'The code host does not show the commits of this pull request now.';

export class AgitDelivery extends Delivery<AgitHost> {
  async deliver(proposal: Proposal): Promise<HostPullRequest> {
    const { anonymous, earlier } = proposal;
    const { push, run, base } = this;
    const { named } = push;
    const updated = isUpdate(push) ? (named?.pullRequest ?? null) : earlier?.isOpen ? earlier : null;
    const text = { ...wholeText(push, anonymous), isDraft: push.isDraft };
    if (updated === null) return this.#send(proposal, { base, isForced: false, text });
    const pullRequest = await this.#update(updated, proposal);
    // The one that was to be updated was closed meanwhile, or is for another branch now.
    if (pullRequest.number !== updated.number) {
      await run.reply.note(
        'The pull request was closed or changed meanwhile, so a new one was opened:',
        `  ${pullRequest.url}`,
      );
      return run.steps.run('offer', () => this.host.delivered(push.repository, pullRequest.number, text));
    }
    return named === null ? pullRequest : this.edit(anonymous, pullRequest);
  }

  async #update(open: HostPullRequest, proposal: Proposal): Promise<HostPullRequest> {
    const { anonymous, onlyFrom, prHash } = proposal;
    const { named } = this.push;
    const judged = named?.tip ?? ZERO_OID;
    const before = judged === ZERO_OID ? await this.#tipOf(open) : judged;
    if (before === anonymous.tip) return open;
    if (onlyFrom !== null && before !== onlyFrom) throw overtaken();
    if (named === null) await this.refuseOthersWork(open, prHash, before);
    const isForced = !anonymous.has(before);
    // What is there was judged some time ago, and nothing else would keep what has come since.
    if (isForced && (await this.#tipOf(open)) !== before) throw overtaken();
    return this.#send(proposal, { base: open.base, isForced, text: null });
  }

  /**
   * Looks up where an open pull request ends. If the host does not show it, nobody knows what an
   * update would replace.
   * @throws Refusal
   */
  #tipOf({ source }: HostPullRequest): Promise<Oid> {
    const { steps, host } = this.run;
    return steps.run('lookup', async () => {
      const tip = source === null ? null : await tipOf(host, source);
      if (tip === null || tip === ZERO_OID) throw new HostError('unreachable', NO_COMMITS_SHOWN);
      return tip;
    });
  }

  async #send(proposal: Proposal, request: Omit<AgitRequest, 'topic'>): Promise<HostPullRequest> {
    const { run, host } = this;
    const { repository } = this.push;
    const { hostName } = run.host.transport;
    const target = host.agitPush({ ...request, topic: workBranch(proposal.prHash) });
    await this.tellSending();
    try {
      const report = await this.upload('offer', proposal, { repository, ...target, oldTip: ZERO_OID });
      const { reason = null, updatedRef = '' } = report.commandStatuses[0] ?? {};
      if (reason !== null && host.isStale(reason)) throw overtaken();
      const refusal = refusedCommits(report);
      if (refusal !== null) throw refusal;
      // A server that does not name it has opened none.
      const number = Number(/^refs\/pull\/(\d+)\/head$/.exec(updatedRef)?.[1]);
      if (!(number > 0))
        throw takesNone(hostName, new HostError('refused', NOT_SHOWN, undefined, { whose: 'theirs' }));
      return await run.steps.run('offer', () =>
        host.delivered(repository, number, request.text).catch((cause: unknown) => {
          throw new HostError('unreachable', NOT_SHOWN, cause);
        }),
      );
    } catch (error) {
      if (error instanceof Refusal && error.code === 'overtaken') throw error;
      // The answer may be lost. The server also refuses commits that it has already.
      const login = await run.host.botLogin();
      // If nobody can say whether it arrived, the push is in doubt, and says so.
      const found = await host
        .findDelivered(repository, login, proposal.anonymous.tip)
        .catch(() => 'unknown' as const);
      if (found === 'unknown') throw inDoubt(error);
      if (found !== null) return host.delivered(repository, found.number, request.text).catch(() => found);
      const cause = hostErrorOf(error);
      if (cause === null) throw error;
      if (isReported(cause) && cause.failure.lasts === 'moment') throw inDoubt(error);
      const isDefinite = cause.code === 'refused' || cause.code === 'missing';
      throw isDefinite && !(await this.#takesOptions()) ? takesNone(hostName, cause) : error;
    }
  }

  /** Asks the host whether it takes pull requests by a push. True if it does not say. */
  #takesOptions(): Promise<boolean> {
    return this.run.host.transport.pushCapabilities(this.push.repository).then(
      (capabilities) => capabilities.has('push-options'),
      () => true,
    );
  }
}

/**
 * Whether the report of the push refuses it, and not a status. Then the server may have opened the
 * pull request before.
 */
function isReported({ code, failure }: HostError): boolean {
  return code === 'refused' && failure.status === null;
}

/**
 * Turns a refusal by the host's report into one after which the next push looks for the pull
 * request before it opens another. Leaves other failures as they are.
 */
function inDoubt(error: unknown): unknown {
  const cause = hostErrorOf(error);
  if (!(error instanceof Refusal) || cause === null || !isReported(cause)) return error;
  const { lasts, whose } = cause.failure;
  const next = lasts === 'moment' ? [] : [NOT_SHOWN, 'Push the same commits again later.'];
  const means = { effect: 'unknown', lasts: 'moment', whose } as const;
  return new Refusal('offer', error.reason, [...error.lines, ...next], {
    cause: new HostError('refused', cause.publicMessage, cause, means),
  });
}

function takesNone(hostName: string, cause: HostError): Refusal {
  const lines = [
    `${hostName} does not let this service open pull requests there by a push (AGit flow).`,
    'Tell the operator of this service: "npm run doctor" says what that host lacks.',
  ];
  return new Refusal('push', 'the code host takes no pull requests by a push', lines, { cause });
}
