/** The code host and the repository in a path, `/v1/<host>/<owner>/<repo>` (contract, 4.1 to 4.7). */
import type { Context } from 'hono';
import { hostNameOf, hostWithKey } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { parseName } from '../../host/kinds.ts';
import { INVALID_NAME, type RepositoryName } from '../../host/repository-name.ts';
import { problemPage } from '../../pages/report-page.ts';
import { answerPage, preferredType } from '../pages/page.ts';
import { sentence } from './rate-limit.ts';

export const REPOSITORY_PATH = '/v1/:host/:owner/:repo';

type Answer = Response | Promise<Response>;
type Handler = (c: Context<AppEnv>, target: RepositoryName) => Answer;

/** The answers to a path that no handler gets. */
interface Refusals {
  unknownHost(c: Context<AppEnv>): Answer;
  invalidName(c: Context<AppEnv>): Answer;
}

/** A page that depends on what someone has typed is kept by nobody. */
const NOT_KEPT = { 'Cache-Control': 'no-store' };

const AS_JSON: Refusals = {
  unknownHost: (c) => c.json({ error: 'not found' }, 404),
  invalidName: (c) => c.json({ error: INVALID_NAME }, 400),
};

/** Git shows people the text of an answer. */
const AS_TEXT: Refusals = {
  unknownHost: (c) => c.text(`No such code host. ${knownHosts(c)}\n`, 404),
  invalidName: (c) => c.text(`${INVALID_NAME}\n`, 400),
};

const AS_PAGE: Refusals = {
  unknownHost: (c) => answerPage(c, problemPage('No such code host', knownHosts(c)), 404, NOT_KEPT),
  invalidName: (c) => answerPage(c, problemPage('No such repository', sentence(INVALID_NAME)), 400, NOT_KEPT),
};

/** A remote's own address: people open it, and programs come across it. */
const AS_PREFERRED: Refusals = {
  unknownHost: (c) => (prefersPage(c) ? AS_PAGE : AS_JSON).unknownHost(c),
  invalidName: (c) => (prefersPage(c) ? AS_PAGE : AS_TEXT).invalidName(c),
};

/**
 * Calls the handler only for a host that is configured, which it finds as `c.var.host`, and with a name that is valid
 * there. Others are refused as JSON.
 */
export const onRepository = (handle: Handler) => withTarget(handle, AS_JSON);

/** The same for Git. */
export const onGitRepository = (handle: Handler) => withTarget(handle, AS_TEXT);

/** The same for pages. */
export const onRepositoryPage = (handle: Handler) => withTarget(handle, AS_PAGE);

/** The same for the address of a remote, which answers a browser with a page. */
export const onRemote = (handle: Handler) => withTarget(handle, AS_PREFERRED);

/** Whether a page is wanted rather than a line of text. */
export function prefersPage(c: Context): boolean {
  return preferredType(c, ['text/html', 'text/plain'], 'text/plain') === 'text/html';
}

function withTarget(handle: Handler, refusals: Refusals) {
  return async (c: Context<AppEnv>): Promise<Response> => {
    const host = hostWithKey(c.var.config, c.req.param('host') ?? '');
    if (host === undefined) return refusals.unknownHost(c);
    c.set('host', host);
    const target = parseName(host.kind, c.req.param('owner') ?? '', c.req.param('repo') ?? '');
    return target === null ? refusals.invalidName(c) : handle(c, target);
  };
}

/** For people. */
function knownHosts({ var: { config } }: Context<AppEnv>): string {
  const beginnings = config.hosts.map((host) => `/v1/${host.key}/ for ${hostNameOf(host)}`);
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(beginnings);
  return `Addresses of repositories begin here with ${list}.`;
}
