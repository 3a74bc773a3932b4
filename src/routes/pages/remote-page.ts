/** GET /v1/gh/<owner>/<repo>, for a person who opens a remote's address in a browser. */
import type { Context } from 'hono';
import { systemClock } from '../../clock.ts';
import { recordName, repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import type { RepositoryName } from '../../host/repository-name.ts';
import { type ListedPullRequest, remotePage } from '../../pages/remote-page.ts';
import { openPolicies } from '../../policy/policies.ts';
import { recordedHashesOf } from '../../stats/recorded-hashes.ts';
import { CHANGE_FORM, ISSUE_FORM, REPLY_FORM } from '../forms/paths.ts';
import { keptFor, publicOrigin } from '../request/public-origin.ts';
import { refuseTooMany } from '../request/rate-limit.ts';
import { remotePath } from '../request/remote-path.ts';
import { answerPage } from './page.ts';

/** Each is an object that is asked. */
const MAX_LISTED = 10;
/** How long to wait for the policy. The rest of the page does not need the code host. */
const PATIENCE_MS = 5_000;
/** The service learns of events at the code host once a minute. */
const KEPT_SECONDS = 60;

export async function showRemote(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  const { config, host, logger, http } = c.var;
  // The host is asked at most every five minutes; of made-up names, as often as for clones.
  const mayAsk = async () => (await refuseTooMany(c, 'discoveries')) === null;
  const [policy, pullRequests] = await Promise.all([
    Promise.race([
      openPolicies(c.env, config, host, logger, http).of(target, mayAsk),
      systemClock.sleep(PATIENCE_MS).then(() => undefined),
    ]),
    listed(c, target),
  ]);
  const path = remotePath(host, target);
  const page = {
    repository: target,
    remoteBase: `${publicOrigin(c.req.raw, config)}/v1/`,
    path: repositoryPath(host, target),
    forms: { issue: path + ISSUE_FORM, reply: path + REPLY_FORM, change: path + CHANGE_FORM },
    policy,
    pullRequests,
  };
  const isComplete = policy !== undefined && pullRequests !== null;
  return answerPage(c, remotePage(page, config), 200, {
    'Cache-Control': isComplete ? keptFor(KEPT_SECONDS, config) : 'no-store',
  });
}

/** Null if they cannot be listed. No hash gets into the page: it may be all that an update needs. */
async function listed(
  c: Context<AppEnv>,
  target: RepositoryName,
): Promise<readonly ListedPullRequest[] | null> {
  const { DB, PULL_REQUESTS } = c.env;
  try {
    const hashes = await recordedHashesOf(DB, recordName(c.var.host, target), MAX_LISTED);
    const views = await Promise.all(
      hashes.map((hash) => PULL_REQUESTS.get(PULL_REQUESTS.idFromName(hash)).view()),
    );
    return views.filter((view) => view !== null).map(({ number, url, state }) => ({ number, url, state }));
  } catch (error) {
    c.var.logger.warn('the pull requests of a repository cannot be listed', { error });
    return null;
  }
}
