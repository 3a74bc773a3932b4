/**
 * Reads of a host that several files of this folder share.
 * Proved by test/host/github-writes.test.ts and test/host/forgejo/repositories.test.ts.
 */
import { HostError } from '../../words/host-error.ts';
import type { Clock } from '../../isolate/clock.ts';
import { Recent } from '../../isolate/recent.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { Account, Repository } from '../code-host.ts';
import {
  expectFlag,
  expectList,
  expectLogin,
  expectNumber,
  expectRepository,
  expectSize,
  expectStatus,
} from './answer.ts';
import type { DataOf, Rest } from './rest.ts';

/** Returns the repository's parameters of a route. */
export function placeOf({ owner, name: repo }: RepositoryName) {
  return { owner, repo };
}

export async function readAccount(rest: Rest): Promise<Account> {
  return rest.retried(async () => {
    const { data } = await rest.call('GET /user', {});
    return { id: expectNumber(data.id), login: expectLogin(data.login) };
  });
}

/** A repository with fields that octokit does not declare: newer ones, and those of Gitea. */
type AnsweredRepository = DataOf<'GET /repos/{owner}/{repo}'> & {
  readonly has_pull_requests?: boolean;
  readonly pull_request_creation_policy?: string;
  /** True if only people who are signed in see it. */
  readonly internal?: boolean;
  /**
   * True if it mirrors another server's, and takes no pull requests (Gitea: `CanEnablePulls` in
   * models/repo/repo.go).
   */
  readonly mirror?: boolean;
  /**
   * The owner, who may be visible to nobody, or only to people who are signed in, as the bot is.
   */
  readonly owner: { readonly visibility?: string };
};

/**
 * The accounts whose pull requests a repository takes, for repositories that this isolate has
 * lately seen to be public. The bot's token shows nothing of them that the public may not see.
 * While one is listed here, it may have become private.
 */
const knownPublic = new Recent<Repository['pullRequests']>({ lifeMs: 10 * 60 * 1000, most: 1_000 });
const keyOf = (apiUrl: string, name: RepositoryName) => `${apiUrl} ${fullName(name)}`.toLowerCase();

/**
 * Returns whose pull requests a public repository takes, or null if it was not looked up lately.
 * @param apiUrl names the host.
 */
export function pullRequestsOf(
  apiUrl: string,
  repository: RepositoryName,
  now: number,
): Repository['pullRequests'] | null {
  return knownPublic.get(keyOf(apiUrl, repository), now);
}

/**
 * Tells if a repository is public. It asks the host if this is not known, and rejects with
 * HostError.
 */
export type IsPublic = (repository: RepositoryName) => Promise<boolean>;

export function publicAt(
  host: { readonly repository: (name: RepositoryName) => Promise<Repository> },
  apiUrl: string,
  clock: Clock,
): IsPublic {
  return async (name) =>
    pullRequestsOf(apiUrl, name, clock.now()) !== null || !(await host.repository(name)).isPrivate;
}

/** Looks up the repository under its current name, and remembers if it is public. */
export async function lookUpRepository(rest: Rest, name: RepositoryName): Promise<Repository> {
  const repository = await rest.retried(async () =>
    toRepository((await rest.call('GET /repos/{owner}/{repo}', placeOf(name))).data),
  );
  for (const key of [name, repository].map((known) => keyOf(rest.apiUrl, known))) {
    if (repository.isPrivate) knownPublic.delete(key);
    else knownPublic.set(key, repository.pullRequests, rest.clock.now());
  }
  return repository;
}

function toRepository(data: AnsweredRepository): Repository {
  const id = expectNumber(data.id);
  const isOwnerPublic = (data.owner.visibility ?? 'public') === 'public';
  // An older server does not say.
  const takesNone = data.has_pull_requests === false || data.mirror === true;
  const isForCollaborators = data.pull_request_creation_policy === 'collaborators_only';
  const takesOthers = isForCollaborators && data.permissions?.push !== true ? 'collaborators' : 'all';
  return {
    ...expectRepository(data),
    id,
    // Where forks share no objects, each repository is a network of its own.
    networkId: Number(data.source?.id ?? id),
    isPrivate: expectFlag(data.private) || data.internal === true || !isOwnerPublic,
    isArchived: expectFlag(data.archived),
    pullRequests: takesNone ? 'none' : takesOthers,
    sizeKb: expectSize(data.size),
  };
}

interface AnsweredUser {
  readonly id: number | bigint;
  readonly login: string;
  /** `Bot` for the account of an App. Gitea does not say. */
  readonly type?: string;
}

/** A pull request, in a list or alone. */
export type AnsweredPull = Pick<
  DataOf<'GET /repos/{owner}/{repo}/pulls/{pull_number}'>,
  'id' | 'number' | 'html_url' | 'state' | 'title' | 'body' | 'merged_at' | 'closed_at' | 'base' | 'head'
> & {
  /** The author, or null if the account was deleted. */
  readonly user: AnsweredUser | null;
  /** The state, which is missing in GitHub's lists. */
  readonly merged?: boolean;
};

export async function readPull(
  rest: Rest,
  repository: RepositoryName,
  pull_number: number,
): Promise<AnsweredPull> {
  const at = { ...placeOf(repository), pull_number };
  return (await rest.call('GET /repos/{owner}/{repo}/pulls/{pull_number}', at)).data;
}

/** Returns the id of an account. `JSON.parse` makes no `bigint`, although the types allow one. */
export function idOf(user: { readonly id: number | bigint } | null): number | null {
  return user === null ? null : Number(user.id);
}

/** Returns the number of the service's App if a user is its account. Costs calls only for a bot. */
export async function appOf(rest: Rest, user: AnsweredUser | null): Promise<number | undefined> {
  if (user?.type !== 'Bot') return undefined;
  const account = await rest.appAccount();
  return account?.id === idOf(user) ? account?.app : undefined;
}

/**
 * Returns the branch to be merged, or null if the host does not say (AGit flow:
 * `refs/pull/<number>/head`).
 */
export function branchOf({ differences }: Rest, { head }: AnsweredPull): string | null {
  return differences.flow === 'agit' ? null : head.ref;
}

const COMMENTS = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
export type AnsweredComment = DataOf<typeof COMMENTS>[number];

/**
 * Lists the comments on a thread that were created or changed since a moment.
 * @param since is in ISO 8601.
 */
export async function readComments(
  rest: Rest,
  repository: RepositoryName,
  issue_number: number,
  since: string,
): Promise<readonly AnsweredComment[]> {
  const at = { ...placeOf(repository), issue_number, since };
  if (rest.differences.hasCommentPages) return rest.all(COMMENTS, at);
  const answer = await rest.call(COMMENTS, at);
  // An answer of another shape must not pass for a thread without comments.
  expectStatus(answer, 200);
  return expectList(answer.data);
}

/** Bound the comments that are read at once, and their texts, when nobody waits for the rest. */
const ENOUGH_COMMENTS = 1_000;
const ENOUGH_CHARACTERS = 4 * 1024 * 1024;

export interface FirstComments {
  readonly comments: readonly AnsweredComment[];
  /** The time of the last one (milliseconds since 1970), if there may be more; else null. */
  readonly readTo: number | null;
}

/**
 * Lists the comments that were created since a moment, but where they come in pages only the first
 * of many. Hosts list all that were changed since, the oldest first, so somebody who edits a
 * thousand old ones must not use up that bound.
 */
export async function firstComments(
  rest: Rest,
  repository: RepositoryName,
  issue_number: number,
  since: string,
): Promise<FirstComments> {
  const isNew = ({ created_at }: AnsweredComment) => isSince(since, created_at);
  if (!rest.differences.hasCommentPages) {
    const all = await readComments(rest, repository, issue_number, since);
    return { comments: all.filter(isNew), readTo: null };
  }
  const comments: AnsweredComment[] = [];
  let characters = 0;
  for await (const { data } of rest.pages(COMMENTS, { ...placeOf(repository), issue_number, since })) {
    for (const comment of data.filter(isNew)) {
      comments.push(comment);
      characters += comment.body?.length ?? 0;
    }
    const readTo = Date.parse(comments.at(-1)?.created_at ?? since);
    const isEnough = comments.length >= ENOUGH_COMMENTS || characters >= ENOUGH_CHARACTERS;
    // The next read begins at the last one, so it must be later than where this one began.
    if (isEnough && readTo > Date.parse(since)) return { comments, readTo };
  }
  return { comments, readTo: null };
}

/** Tells if something was said since a moment, or the host does not say when. */
export function isSince(since: string, at: string): boolean {
  return !(Date.parse(at) < Date.parse(since));
}

/**
 * Writes to a repository that may have been renamed. The client follows only redirects that repeat
 * the request (RFC 9110, 15.4: with 301 a POST may become a GET). After the others nothing has been
 * done, and the write is made under the new name.
 * @throws HostError, `moved` if the repository is private now, or has no other name.
 */
export async function underCurrentName<T>(
  rest: Rest,
  repository: RepositoryName,
  write: (repository: RepositoryName) => Promise<T>,
): Promise<T> {
  try {
    return await write(repository);
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== 'moved') throw error;
    const current = await lookUpRepository(rest, repository);
    // The bot may see private repositories. A public text must not be written there.
    const isElsewhere = fullName(current).toLowerCase() !== fullName(repository).toLowerCase();
    if (current.isPrivate || !isElsewhere) throw error;
    return write({ owner: current.owner, name: current.name });
  }
}
