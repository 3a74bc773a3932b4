/**
 * The anonymous pull requests of a repository, newest first: a few seconds old at most, so that a crowd of readers
 * wakes their objects no more often than one reader does.
 */
import type { Context } from 'hono';
import { recordName } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { LastKnown } from '../../isolate/last-known.ts';
import { lastKnownPlaces } from '../../isolate/open-last-known.ts';
import { pullRequestOf } from '../../objects.ts';
import type { ListedPullRequest } from '../../pages/remote-page.ts';
import { recordedHashesOf } from '../../stats/recorded-hashes.ts';

/** Each is an object that is asked. */
const MAX_LISTED = 10;
const FRESH_MS = 5_000;

/** @param mayAsk whether this client may cause a question. Null if they cannot be listed. Never rejects. */
export async function listedPullRequests(
  c: Context<AppEnv>,
  target: RepositoryName,
  mayAsk: () => Promise<boolean>,
): Promise<readonly ListedPullRequest[] | null> {
  const repository = recordName(c.var.host, target);
  const name = `listed/${repository.toLowerCase()}`;
  const places = lastKnownPlaces(c.env, c.var.config, (error) =>
    c.var.logger.warn('the pull requests of a repository cannot be listed', { error }),
  );
  const lastKnown = new LastKnown(places);
  const listed = await lastKnown.read<readonly ListedPullRequest[]>({
    name,
    freshMs: FRESH_MS,
    nothing: [],
    ask: async () => {
      if (await mayAsk()) return ask(c, repository);
      throw new Error('the client has asked for too many repositories');
    },
  });
  // One client's limit is not everybody's.
  if (listed === undefined) await lastKnown.forget(name);
  return listed ?? null;
}

/** No hash gets into the answer: it may be all that an update needs. */
async function ask({ env }: Context<AppEnv>, repository: string): Promise<ListedPullRequest[]> {
  const hashes = await recordedHashesOf(env.DB, repository, MAX_LISTED);
  const views = await Promise.all(hashes.map((hash) => pullRequestOf(env, hash).view()));
  return views.flatMap((view) =>
    view?.isShown
      ? [
          {
            number: view.number,
            url: view.url,
            state: view.state,
            title: view.title ?? null,
            openedAt: view.events.find(({ kind }) => kind === 'opened')?.at ?? null,
          },
        ]
      : [],
  );
}
