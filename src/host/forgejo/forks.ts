/**
 * The bot's fork of a repository. A server answers a second request for a fork with 409, and names the existing fork
 * only in the text of the error. So the text is a hint, and the fork itself is checked.
 */
import type { Repository } from '../code-host.ts';
import { HostError } from '../../host-error.ts';
import type { RepositoryName } from '../../repository-name.ts';
import { expectRepository, expectStatus } from '../rest/answer.ts';
import type { RestCalls } from '../rest/octokit.ts';
import { failureStatus, isRequestFailure, refusalText } from '../rest/request-failure.ts';
import { unlessMissing } from '../rest/unless-missing.ts';
import { type AnsweredRepository, isForkOf } from './answers.ts';
import { call, pagesOf } from './calls.ts';

/** The server copies the repository before it answers, and stops when nobody waits any more. */
const FORK_TIMEOUT_MS = 120_000;
/** Pages of a repository's forks that are searched for the bot's. */
const MAX_FORK_PAGES = 40;

/** @param login the bot's. @throws HostError */
export async function forkOf(
  calls: RestCalls,
  repository: Repository,
  login: string,
): Promise<RepositoryName> {
  const first = await create(calls, repository, login, repository.name);
  if (first.kind === 'made') return first.fork;
  const existing = await find(calls, repository, login, first.text);
  if (existing !== null) return existing;
  // The bot has another repository of that name.
  const second = await create(calls, repository, login, `${repository.name}-${repository.id}`);
  if (second.kind === 'made') return second.fork;
  throw second.error;
}

type Creation =
  | { readonly kind: 'made'; readonly fork: RepositoryName }
  /** 409: there is a fork, or another repository of that name, or the account may have no more repositories. */
  | { readonly kind: 'conflict'; readonly text: string; readonly error: HostError };

async function create(
  { octokit, retried }: RestCalls,
  repository: Repository,
  login: string,
  name: string,
): Promise<Creation> {
  const { owner, name: repo } = repository;
  try {
    const fork = await retried(async () => {
      const request = { signal: AbortSignal.timeout(FORK_TIMEOUT_MS) };
      const parameters = { owner, repo, data: { name }, request };
      const answer = await call<AnsweredRepository>(octokit, 'POST /repos/{owner}/{repo}/forks', parameters);
      expectStatus(answer, 202);
      return checked(answer.data, repository, login);
    });
    return { kind: 'made', fork };
  } catch (error) {
    if (!(error instanceof HostError) || failureStatus(error) !== 409) throw error;
    const text = isRequestFailure(error.cause) ? refusalText(error.cause) : '';
    return { kind: 'conflict', text, error };
  }
}

async function find(
  { octokit, retried }: RestCalls,
  repository: Repository,
  login: string,
  text: string,
): Promise<RepositoryName | null> {
  const hinted = /^[^/\]]+\/([^/\],]+)/.exec(text.split('fork path: ', 2)[1] ?? '')?.[1];
  for (const repo of new Set([hinted ?? repository.name, repository.name])) {
    const data = await unlessMissing(() =>
      retried(async () => {
        const place = { owner: login, repo };
        return (await call<AnsweredRepository>(octokit, 'GET /repos/{owner}/{repo}', place)).data;
      }),
    );
    if (data !== null && isForkOf(data, repository, login)) return expectRepository(data);
  }
  return retried(async () => {
    const place = { owner: repository.owner, repo: repository.name };
    let pages = 0;
    for await (const page of pagesOf<AnsweredRepository>(octokit, 'GET /repos/{owner}/{repo}/forks', place)) {
      const fork = page.find((one) => one.owner.login.toLowerCase() === login.toLowerCase());
      if (fork !== undefined) return expectRepository(fork);
      if ((pages += 1) === MAX_FORK_PAGES) return null;
    }
    return null;
  });
}

function checked(data: AnsweredRepository, repository: Repository, login: string): RepositoryName {
  if (isForkOf(data, repository, login)) return expectRepository(data);
  throw new HostError('refused', 'The code host answered with a repository that is not its fork.');
}
