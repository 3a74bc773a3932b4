/**
 * Decides what an App may call, as
 * docs.github.com/rest/authentication/permissions-required-for-github-apps lists it. Public
 * repositories can be read with any token. A write needs a permission, and the installation in the
 * repository, or is answered with 403: actions/create-github-app-token#258 for calls of an account,
 * microsoft/winget-create#677 for a repository in which the App is not installed.
 */
import type { InstallationToken } from '../apps.ts';
import { APP_TOKEN_UNREADABLE, NOT_ACCESSIBLE_TO_APP } from '../known-answers.ts';
import { covers, type Permissions, type Repository } from '../records.ts';
import type { ApiCall } from './api-call.ts';
import { refusedAs } from './api-call.ts';
import type { Route } from './route.ts';

/** Permissions, of which one is enough. */
type Needed = readonly (keyof Permissions)[];

const ISSUES: Needed = ['issues'];
const PULLS: Needed = ['pull_requests'];
const THREADS: Needed = ['issues', 'pull_requests'];
const REPOSITORY_PATH = '/repos/:owner/:repo';

/** Permissions for the routes of a repository: to read in a private one, and to write in any. */
const NEEDED: Readonly<Record<string, Needed>> = {
  '': ['metadata'],
  '/issues': ISSUES,
  '/issues/:number': THREADS,
  '/issues/:number/comments': THREADS,
  '/issues/comments/:id': THREADS,
  '/issues/comments/:id/reactions': THREADS,
  '/pulls': PULLS,
  '/pulls/:number': PULLS,
  '/pulls/:number/commits': PULLS,
  '/pulls/:number/reviews': PULLS,
  '/pulls/:number/comments': PULLS,
  '/security-advisories/reports': ['repository_advisories'],
};

/** Routes that no installation has, because they are about an account. */
const OF_AN_ACCOUNT = /^\/(?:user|notifications)(?:\/|$)/;
/** Routes for which the App shows its own token. */
const OF_THE_APP = /^\/app(?:\/|$)|\/installation$/;

/** Refuses a call that its credential does not allow. */
export function requireAllowed(call: ApiCall, { method, path }: Route): void {
  const { credential } = call;
  const isOfApp = OF_THE_APP.test(path);
  if (isOfApp && credential !== 'app') throw refusedAs(APP_TOKEN_UNREADABLE);
  // GitHub's words for such a token elsewhere are not known.
  if (!isOfApp && credential === 'app') throw refusedAs(NOT_ACCESSIBLE_TO_APP);
  if (credential === null || credential === 'app') return;
  if (OF_AN_ACCOUNT.test(path)) throw refusedAs(NOT_ACCESSIBLE_TO_APP);
  const repository = repositoryOf(call);
  // A route that names none is public; one that is missing says so itself.
  if (repository === null) return;
  const isWrite = method !== 'GET';
  if (!isWrite && !repository.private) return;
  if (!reaches(credential, repository)) throw refusedAs(NOT_ACCESSIBLE_TO_APP);
  const level = isWrite ? 'write' : 'read';
  if (!isGranted(credential.permissions, neededFor(path, isWrite), level))
    throw refusedAs(NOT_ACCESSIBLE_TO_APP);
}

/** Answers whether a token is for a repository, as long as the installation is. */
export function reaches(token: InstallationToken, repository: Repository): boolean {
  const { account } = token.installation;
  return account === repository.owner && covers(token.installation, repository) && covers(token, repository);
}

/** Answers whether permissions include one of those that are needed. */
function isGranted(permissions: Permissions, needed: Needed, level: 'read' | 'write'): boolean {
  return needed.some((name) => permissions[name] === 'write' || permissions[name] === level);
}

function neededFor(path: string, isWrite: boolean): Needed {
  const place = path.slice(REPOSITORY_PATH.length);
  return NEEDED[place] ?? (isWrite && !place.startsWith('/git/') ? ['administration'] : ['contents']);
}

function repositoryOf({ host, params }: ApiCall): Repository | null {
  const { owner, repo } = params;
  if (owner === undefined || repo === undefined) return null;
  return host.store.findRepository(owner, repo) ?? null;
}
