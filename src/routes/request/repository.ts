/** The code host and the repository in a path, `/v1/<host>/<owner>/<repo>` (contract, 4.1 to 4.7). */
import type { Context } from 'hono';
import { hostWithKey } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { parseName } from '../../host/kinds.ts';
import { INVALID_NAME, type RepositoryName } from '../../host/repository-name.ts';

export const REPOSITORY_PATH = '/v1/:host/:owner/:repo';

type Handler = (c: Context<AppEnv>, target: RepositoryName) => Response | Promise<Response>;

/**
 * Calls the handler only for a host that is configured, which it finds as `c.var.host`, and with a name that is valid
 * there.
 */
export const onRepository = (handle: Handler) =>
  withTarget(handle, (c) => c.json({ error: INVALID_NAME }, 400));

/** The same for Git, which shows people the text of an answer. */
export const onGitRepository = (handle: Handler) =>
  withTarget(handle, (c) => c.text(`${INVALID_NAME}\n`, 400));

/** @param refuseName the answer if the name is not valid. */
export function withTarget(
  handle: Handler,
  refuseName: (c: Context<AppEnv>) => Response | Promise<Response>,
) {
  return async (c: Context<AppEnv>): Promise<Response> => {
    const host = hostWithKey(c.var.config, c.req.param('host') ?? '');
    if (host === undefined) return c.json({ error: 'not found' }, 404);
    c.set('host', host);
    const target = parseName(host.kind, c.req.param('owner') ?? '', c.req.param('repo') ?? '');
    return target === null ? refuseName(c) : handle(c, target);
  };
}
