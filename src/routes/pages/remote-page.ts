/** Serves /v1/gh/<owner>/<repo> to a person who opens a remote's address in a browser. */
import type { Context } from 'hono';
import { openLastKnown } from '../../isolate/last-known.ts';
import { within } from '../../isolate/within.ts';
import { pullRequestOf, readFrom } from '../../objects.ts';
import { fileUrl, hostNameOf, recordName, repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { type ListedPullRequest, remotePage } from '../../pages/remote-page.ts';
import type { ListedThread } from '../../host/code-host.ts';
import type { Policy } from '../../policy/policy.ts';
import { recordedHashesOf } from '../../stats/recorded-hashes.ts';
import { keptFor, shownOrigin } from '../request/public-origin.ts';
import { offeredApp } from '../../service/offered-app.ts';
import { suspensionOf } from '../../service/suspension.ts';
import { openThreadsOf } from '../request/open-threads.ts';
import { knownPolicy, mayRead } from '../request/reading.ts';
import { answerRefused, explained } from '../request/refused.ts';
import { answerPage } from './answer-page.ts';

/** How long to wait for the policy. The rest of the page does not need the code host. */
const PATIENCE_MS = 5_000;
/** How long clients may cache it: the service learns of events at the host once a minute. */
const KEPT_SECONDS = 60;
/** Bounds the list, because each entry is an object to ask. */
const MAX_LISTED = 10;
const FRESH_MS = 5_000;

export async function showRemote(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { config, host } = c.var;
  const [policy, pullRequests, standing, app] = await Promise.all([
    within(PATIENCE_MS, knownPolicy(c, target)).catch(() => undefined),
    listedPullRequests(c, target),
    // Without an answer, the page leaves out whether pushes are suspended.
    suspensionOf(c.env).catch(() => null),
    offeredApp(c.env, host, target),
  ]);
  if (policy === null) {
    const explanation = `${hostNameOf(host)} has no public repository ${fullName(target)}. Correct the name.`;
    return answerRefused(c, explained(404, 'No such repository', explanation), 'page');
  }
  const openThreads = await threadsToList(c, target, policy);
  const page = {
    repository: target,
    remoteBase: `${shownOrigin(c.req.raw, config)}/v1/`,
    path: repositoryPath(host, target),
    policy,
    hostUrl: `${host.url}/${fullName(target)}`,
    fileUrl: (file: string) => fileUrl(host, target, file),
    isSuspended: standing?.panicMode,
    pullRequests,
    openThreads,
    app,
  };
  const isKnown = policy !== undefined && pullRequests !== null && openThreads !== null;
  const isComplete = isKnown && standing?.panicMode === false;
  return answerPage(c, remotePage(page, config), 200, {
    'Cache-Control': isComplete ? keptFor(KEPT_SECONDS, c.req.raw, config) : 'no-store',
  });
}

/**
 * Lists open threads. Made-up names, a host that does not answer, and a repository that takes only
 * pull requests cost no call of the bot account's.
 * @returns null if they cannot be listed now; undefined if there is no use in them.
 */
async function threadsToList(
  c: Context<AppEnv>,
  target: RepositoryName,
  policy: Policy | undefined,
): Promise<readonly ListedThread[] | null | undefined> {
  if (c.var.host.token === null) return undefined;
  if (policy === undefined) return null;
  const isOfUse = policy.accepted.some((kind) => kind !== 'pull_requests');
  return isOfUse ? openThreadsOf(c, target) : undefined;
}

/**
 * Lists the anonymous pull requests, newest first, and caches them for seconds because of crowds;
 * null if they cannot be listed. Never rejects.
 */
async function listedPullRequests(
  c: Context<AppEnv>,
  target: RepositoryName,
): Promise<readonly ListedPullRequest[] | null> {
  const repository = recordName(c.var.host, target);
  const name = `listed/${repository.toLowerCase()}`;
  const lastKnown = openLastKnown(c.env, c.var.config, (error) =>
    c.var.logger.warn('the pull requests of a repository cannot be listed', { error }),
  );
  const known = await lastKnown.read<readonly ListedPullRequest[]>({
    name,
    freshMs: FRESH_MS,
    nothing: [],
    async ask() {
      if (!(await mayRead(c))) throw new Error('the client has asked for too many repositories');
      const hashes = await recordedHashesOf(c.env.DB, repository, MAX_LISTED);
      const views = await Promise.all(
        hashes.map((hash) => readFrom(() => pullRequestOf(c.env, hash).view())),
      );
      // Hashes are left out, because one may be all that an update needs.
      return views
        .filter((view) => view !== null)
        .filter(({ isShown }) => isShown)
        .map(({ number, url, state, title = null, events }) => {
          const openedAt = events.find(({ kind }) => kind === 'opened')?.at ?? null;
          return { number, url, state, title, openedAt };
        });
    },
  });
  // This client's limit may be the reason, which must not be remembered for others.
  if (known === undefined) await lastKnown.forget(name);
  return known ?? null;
}
