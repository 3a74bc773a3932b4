/**
 * GET /v1/pr/<hash>.patch: the commits of a pull request, for a maintainer who adopts them with `git am --signoff`.
 *
 * Only the host can make the patch, with a call of the bot account. So it counts like a clone, and is charged to the
 * client (src/routes/request/caused-calls.ts).
 */
import type { Context } from 'hono';
import { hostWithKey } from '../../config/hosts.ts';
import { openHostAccess } from '../../durable/host-access.ts';
import type { PullRequestView } from '../../durable/pull-request/pull-request.ts';
import type { AppEnv } from '../../env.ts';
import { visibilityAt } from '../../host/git/visibility.ts';
import { openRepositories } from '../../host/open.ts';
import { HostError } from '../../host-error.ts';
import { systemClock } from '../../isolate/clock.ts';
import { fullName } from '../../repository-name.ts';
import { refuseTooMany } from '../request/rate-limit.ts';
import { answerRefused, explained, type Refused, sentence } from '../request/refused.ts';
import { refuseWithoutBot } from '../request/write-refusal.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };
const NOT_SHOWN = explained(404, 'No patch', 'The code host no longer shows this pull request.', NO_STORE);

/** @param kept headers of a patch that is there. */
export async function answerPatch(
  c: Context<AppEnv>,
  pullRequest: PullRequestView,
  kept: Readonly<Record<string, string>>,
): Promise<Response> {
  const host = hostWithKey(c.var.config, pullRequest.host);
  if (host === undefined) return answerRefused(c, NOT_SHOWN, 'text');
  c.set('host', host);
  const refused = refuseWithoutBot(c) ?? (await refuseTooMany(c, 'discoveries'));
  if (refused !== null) {
    return answerRefused(c, { ...refused, explanation: sentence(refused.error) }, 'text');
  }
  const repositories = openRepositories(openHostAccess(c.env, c.var.config, host, c.var.http));
  const repository = { owner: pullRequest.owner, name: pullRequest.repo };
  try {
    // The bot may see more than the public.
    const visibility = visibilityAt(repositories, host.apiUrl, systemClock);
    const isPublic = visibility.isKnownPublic(repository) || (await visibility.isPublic(repository));
    if (!isPublic) return await answerRefused(c, NOT_SHOWN, 'text');
    const patch = await repositories.patch(repository, pullRequest.number);
    const headers = { 'Content-Type': 'text/plain; charset=utf-8', ...kept };
    if (c.req.method !== 'HEAD') return c.body(patch, 200, headers);
    // Otherwise the host waits for somebody who reads it.
    await patch.cancel();
    return c.body(null, 200, headers);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const fetching = `git fetch ${host.url}/${fullName(repository)} pull/${pullRequest.number}/head`;
    return answerRefused(c, failure(error, fetching), 'text');
  }
}

function failure({ code, publicMessage }: HostError, fetching: string): Refused {
  if (code === 'missing') return NOT_SHOWN;
  const isBusy = code === 'busy' || code === 'rate-limited';
  const otherwise = `${publicMessage} You can fetch the commits instead: ${fetching}`;
  return explained(isBusy ? 503 : 502, 'No patch', otherwise, NO_STORE);
}
