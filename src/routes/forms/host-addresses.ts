/**
 * A page of the code host, by its own path behind the path of a remote: who replaces only the host's name in an address
 * gets to the form for it.
 */
import { type Context, Hono } from 'hono';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { isValidRefName } from '../../git/wire/ref-name.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { historyHost } from '../git/push-host.ts';
import { refuseTooMany } from '../request/limits.ts';
import { remotePath } from '../request/remote-path.ts';
import { onRepositoryPage } from '../request/repository.ts';
import { CHANGE_FORM, ISSUE_FORM, REPLY_FORM } from './paths.ts';

export const hostAddresses = new Hono<AppEnv>().basePath(REPOSITORY_PATH);

type Query = Record<string, string>;

const leadTo = (
  form: string,
  queryOf: (c: Context<AppEnv>, target: RepositoryName) => Query | Promise<Query>,
) =>
  onRepositoryPage(async (c, target) => {
    const query = new URLSearchParams(await queryOf(c, target)).toString();
    return c.redirect(`${remotePath(c.var.host, target)}${form}${query === '' ? '' : `?${query}`}`, 302);
  });

const toIssue = leadTo(ISSUE_FORM, (c) => c.req.query());
const toReply = leadTo(REPLY_FORM, (c) => ({ to: c.req.param('number') ?? '' }));
/** A change begins at the default branch, whichever the address names. */
const toChange = leadTo(CHANGE_FORM, async (c, target) => ({
  path: await pathBehindBranch(c, target, c.req.param('place') ?? ''),
}));

hostAddresses.get('/issues/new/*', toIssue);
hostAddresses.get('/issues/:number{[0-9]+}', toReply);
hostAddresses.get('/pull/:number{[0-9]+}/*', toReply);
hostAddresses.get('/pulls/:number{[0-9]+}', toReply);
hostAddresses.get('/:page{blob|edit|tree}/:place{.+/.+}', toChange);
hostAddresses.get('/src/branch/:place{.+/.+}', toChange);

/** What has no slash behind it: usual branches, and the id of a commit. */
const WHOLE = /^(?:main|master|HEAD|[0-9a-f]{40})$/;
const HEADS = 'refs/heads/';

/** @param place a branch, whose name may have slashes, and a path. Costs at most one request, and never rejects. */
async function pathBehindBranch(c: Context<AppEnv>, target: RepositoryName, place: string): Promise<string> {
  const [first = '', ...others] = place.split('/');
  const path = others.join('/');
  const isClear = others.length === 1 || WHOLE.test(first) || !isValidRefName(HEADS + first);
  if (isClear || (await refuseTooMany(c, 'discoveries')) !== null) return path;
  const { transport, memory } = historyHost(c);
  try {
    const { refs } = await transport.listRefs(target, [`${HEADS}${first}/`], 'upstream');
    const branch = refs.find(({ name }) => `${HEADS}${place}`.startsWith(`${name}/`));
    return branch === undefined ? path : place.slice(branch.name.length - HEADS.length + 1);
  } catch (error) {
    c.var.logger.warn('the branches of a repository could not be listed', { error });
    return path;
  } finally {
    memory.end();
  }
}
