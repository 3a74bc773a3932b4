/**
 * Introduces the bot on the first pull request that it opens in a repository: once, however many
 * open at that moment. If the host refuses the comment, or its answer is lost, the repository stays
 * without: a second comment would be worse.
 * Proved by test/durable/pull-request/introduce.test.ts and test/e2e/host/introduction.test.ts.
 */
import { accountLimits } from '../../config/config.ts';
import type { Env } from '../../env.ts';
import { botLogin, payerIn, type Reached } from '../../host-access.ts';
import { OWNERS_REPOSITORY } from '../../host/kinds.ts';
import { mentionOf } from '../../events/maintainer-words.ts';
import { openThreads } from '../../host/open.ts';
import { ownClaim } from '../../limits/claim.ts';
import { reserveCreation } from '../../limits/port.ts';
import { loggerOf } from '../../log.ts';
import { feedOf, guardOf, hostAccountNamed, readFrom } from '../../objects.ts';
import { MAINTAINERS_PATH } from '../../text/footer.ts';
import { introduction } from '../../text/introduction.ts';
import { hostFailureOf } from '../../words/host-error.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import type { DeliveryResult } from '../outbox.ts';
import type { PullRequestRecord } from './record.ts';

const DONE: DeliveryResult = { kind: 'done' };
const later = (askedMs: number): DeliveryResult => ({ kind: 'failed', askedMs, all: false });

/**
 * Answers whether this pull request is the one to introduce the bot on. True once for a repository.
 * @param repositoryId the host's number of it.
 */
export async function isFirst(env: Env, { config, host }: Reached, repositoryId: number): Promise<boolean> {
  // Without SERVICE_URL, the comment would name an address that only this machine reaches. That is
  // enough where the embedded host is tried.
  const hasAddress = config.isServiceUrlGiven || env.EMBEDDED_HOST !== undefined;
  const isWanted = config.introduce === 'first' && hasAddress && host.token !== null;
  return isWanted && feedOf(env, host.key).introduce(repositoryId);
}

/** Asks once more, because hours may have passed since the push. Rejects if nobody knows. */
async function mayPost(env: Env, hostKey: string, repository: RepositoryName) {
  const saying = readFrom(() => feedOf(env, hostKey).said(repository, null));
  const [{ writesSuspended }, { stoppedAt }] = await Promise.all([
    readFrom(() => guardOf(env).status()),
    saying,
  ]);
  if (stoppedAt !== null) return 'never';
  return writesSuspended ? 'later' : 'now';
}

/**
 * Posts the comment, which counts as a creation of the account. Never rejects because of the host.
 * @param begin is called right before the host is asked for it, which it is not if this rejects.
 */
export async function introduce(
  reached: Reached,
  { owner, repo: name, number, app }: PullRequestRecord,
  begin: () => Promise<void>,
): Promise<DeliveryResult> {
  const { env, config, host, access } = reached;
  const may = await mayPost(env, host.key, { owner, name }).catch(() => 'later' as const);
  if (may !== 'now') return may === 'never' ? DONE : later(0);
  const account = hostAccountNamed(env, await payerIn(reached, { owner, name }));
  const grant = await reserveCreation(account, ownClaim(accountLimits(config, host)), loggerOf(config));
  if (grant.kind === 'denied') return later(grant.waitMs);
  const { serviceUrl } = config;
  let isAsked = false;
  try {
    const appAccount = app === undefined ? null : await access.writers?.account();
    const bot = appAccount ? mentionOf(appAccount) : await botLogin(reached, true);
    const ownersRepository = `${owner}/${OWNERS_REPOSITORY[host.kind]}`;
    const maintainersUrl = serviceUrl + MAINTAINERS_PATH;
    const text = introduction({ serviceUrl, maintainersUrl, bot, ownersRepository });
    await begin();
    isAsked = true;
    await openThreads(access).createComment({ owner, name }, number, text);
    return DONE;
  } catch (error) {
    const { effect, lasts, retryAfterMs } = hostFailureOf(error);
    if (isAsked && effect === 'unknown') return DONE;
    await grant.release();
    return lasts === 'final' ? DONE : later(retryAfterMs ?? 0);
  }
}
