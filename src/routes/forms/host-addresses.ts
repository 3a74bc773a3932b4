/**
 * A page of the code host, by its own path behind the path of a remote: who replaces only the host's name in an address
 * gets to the form for it.
 */
import { type Context, Hono } from 'hono';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { remotePath } from '../request/remote-path.ts';
import { onRepositoryPage } from '../request/repository.ts';
import { CHANGE_FORM, ISSUE_FORM, REPLY_FORM } from './paths.ts';

export const hostAddresses = new Hono<AppEnv>().basePath(REPOSITORY_PATH);

const leadTo = (form: string, queryOf: (c: Context<AppEnv>) => Record<string, string>) =>
  onRepositoryPage((c, target) => {
    const query = new URLSearchParams(queryOf(c)).toString();
    return c.redirect(`${remotePath(c.var.host, target)}${form}${query === '' ? '' : `?${query}`}`, 302);
  });

const toIssue = leadTo(ISSUE_FORM, (c) => c.req.query());
const toReply = leadTo(REPLY_FORM, (c) => ({ to: c.req.param('number') ?? '' }));
/** A change begins at the default branch, whichever the address names. */
const toChange = leadTo(CHANGE_FORM, (c) => ({ path: c.req.param('path') ?? '' }));

hostAddresses.get('/issues/new/*', toIssue);
hostAddresses.get('/issues/:number{[0-9]+}', toReply);
hostAddresses.get('/pull/:number{[0-9]+}/*', toReply);
hostAddresses.get('/pulls/:number{[0-9]+}', toReply);
hostAddresses.get('/:page{blob|edit|tree}/:branch/:path{.+}', toChange);
hostAddresses.get('/src/branch/:branch/:path{.+}', toChange);
