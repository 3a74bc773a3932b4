/**
 * The code host and the repository in a path, `/v1/<host>/<owner>/<repo>` (contract, 4.1 to 4.7).
 * Proved by test/routes/hosts.test.ts and test/e2e/people/bad-input-requests.test.ts.
 */
import type { Context } from 'hono';
import { hostNameOf, hostWithKey, repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { parseName } from '../../host/kinds.ts';
import { INVALID_NAME, type RepositoryName } from '../../words/repository-name.ts';
import { usualHost } from '../../pages/commands.ts';
import { preferredType } from '../pages/answer-page.ts';
import { shownOrigin } from './public-origin.ts';
import { type AnswerForm, answerRefused, explained, type Refused, refused } from './refused.ts';
import { sentence } from '../../words/sentence.ts';

type Handler = (c: Context<AppEnv>, target: RepositoryName) => Response | Promise<Response>;

/**
 * Calls a handler with a valid name, and its host as `c.var.host`. Other paths are refused, here in
 * JSON.
 */
export const onRepository = (handle: Handler) => withTarget(handle, () => 'json');
/** Does the same for Git, which shows people the text of an answer. */
export const onGitRepository = (handle: Handler) => withTarget(handle, () => 'text');
export const onRepositoryPage = (handle: Handler) => withTarget(handle, () => 'page');
/** Does the same for the address of a remote, which answers a browser with a page. */
export const onRemote = (handle: Handler) =>
  withTarget(handle, (c, wrong) => (prefersPage(c) ? 'page' : wrong === 'host' ? 'json' : 'text'));

/** True if the client prefers a page to a line of text. */
export function prefersPage(c: Context): boolean {
  return preferredType(c, ['text/html', 'text/plain'], 'text/plain') === 'text/html';
}

function withTarget(handle: Handler, formOf: (c: Context<AppEnv>, wrong: 'host' | 'name') => AnswerForm) {
  return async (c: Context<AppEnv>): Promise<Response> => {
    const host = hostWithKey(c.var.config, c.req.param('host') ?? '');
    if (host === undefined) return answerRefused(c, unknownHost(c), formOf(c, 'host'));
    c.set('host', host);
    const target = parseName(host.kind, c.req.param('owner') ?? '', c.req.param('repo') ?? '');
    if (target !== null) return handle(c, target);
    const form = formOf(c, 'name');
    return answerRefused(c, form === 'page' ? NO_SUCH_REPOSITORY : refused(400, INVALID_NAME), form);
  };
}

const NO_SUCH_REPOSITORY = explained(400, 'No such repository', sentence(INVALID_NAME));

export function unknownHost(c: Context<AppEnv>): Refused {
  const { config } = c.var;
  const beginnings = config.hosts.map((host) => `/v1/${host.key}/ for ${hostNameOf(host)}`);
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(beginnings);
  const explanation = `${didYouMean(c)}Addresses of repositories begin here with ${list}.`;
  return { ...explained(404, 'No such code host', explanation), error: 'not found' };
}

/** The command that was probably meant, as a line; empty if Git asks for no repository. */
function didYouMean({ req, var: { config } }: Context<AppEnv>): string {
  const [, path = ''] = /^(.+)\/info\/refs$/.exec(req.path) ?? [];
  const typed = path.split('/');
  const [owner = '', name = ''] = typed.slice(-2);
  const named = config.hosts.find((one) => typed.includes(one.key) || typed.includes(hostNameOf(one)));
  const host = named ?? usualHost(config.hosts);
  // The path ends behind the owner, such as `/v1/gh/octo`.
  const isHalf = typed.at(-3) === 'v1' && hostWithKey(config, owner) !== undefined;
  const meant = isHalf ? parseName(host.kind, name, 'repo') : parseName(host.kind, owner, name);
  if (meant === null) return '';
  const verb = req.query('service') === 'git-receive-pack' ? 'push' : 'clone';
  const repository = isHalf ? `${host.key}/${meant.owner}/<repo>` : repositoryPath(host, meant);
  return `Did you mean: git ${verb} ${shownOrigin(req.raw, config)}/v1/${repository}\n`;
}
