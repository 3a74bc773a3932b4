/** The repository in the path of a JSON endpoint. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { INVALID_NAME, parseRepositoryName, type RepositoryName } from '../../host/repository-name.ts';

/** Calls the handler only with a valid name. */
export const onRepository =
  (handle: (c: Context<AppEnv>, target: RepositoryName) => Promise<Response>) =>
  async (c: Context<AppEnv>): Promise<Response> => {
    const target = parseRepositoryName(c.req.param('owner') ?? '', c.req.param('repo') ?? '');
    return target === null ? c.json({ error: INVALID_NAME }, 400) : handle(c, target);
  };
