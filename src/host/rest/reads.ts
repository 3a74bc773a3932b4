/** What more than one interface of this folder reads of a host, and how one kind of host is asked for it. */
import type { Octokit } from '@octokit/rest';
import type { RepositoryName } from '../../repository-name.ts';
import type { Account, Repository } from '../code-host.ts';
import { expectLogin, expectNumber } from './answer.ts';
import type { RestCalls } from './octokit.ts';

/** The time limit of one call; without it, that of its Octokit. */
export interface CallLimits {
  readonly request?: { readonly signal: AbortSignal };
}

/** Where a call goes, as the paths of both interfaces name it. */
export interface RepositoryPlace extends CallLimits {
  readonly owner: string;
  readonly repo: string;
}

/** An issue or a pull request. */
export interface ThreadPlace extends RepositoryPlace {
  readonly index: number;
}

export interface Answer<T> {
  readonly status: number;
  readonly data: T;
}

/** A comment or a review. */
export interface AnsweredRemark {
  readonly id: number;
  readonly html_url: string;
  readonly user: { readonly id: number } | null;
  readonly body?: string | null;
}

/** A pull request, in a list or by itself. */
export interface AnsweredPull {
  /** Read only where there is no branch. */
  readonly id?: number;
  readonly number: number;
  readonly html_url: string;
  readonly user: { readonly id: number; readonly login: string } | null;
  readonly state: string;
  /** Not in a list of GitHub's. */
  readonly merged?: boolean;
  readonly merged_at: string | null;
  readonly closed_at: string | null;
  readonly base: { readonly ref: string };
  /** To be merged; null: the host does not say. */
  readonly branch: string | null;
  /** Without a repository where that was deleted. */
  readonly head: {
    readonly ref: string;
    readonly repo: { readonly name: string; readonly owner: { readonly login: string } } | null;
  };
}

export interface ReadDialect {
  account(
    octokit: Octokit,
    limits?: CallLimits,
  ): Promise<{ readonly data: { readonly id: number; readonly login: string } }>;
  pull(octokit: Octokit, place: ThreadPlace): Promise<AnsweredPull>;
  /** All since a moment in ISO 8601. */
  comments(
    octokit: Octokit,
    place: ThreadPlace,
    since: string,
  ): Promise<readonly (AnsweredRemark & { readonly created_at: string })[]>;
  /** @throws HostError */
  lookUp(calls: RestCalls, name: RepositoryName): Promise<Repository>;
}

/** @throws TypeError for fields of another shape */
export async function readAccount(dialect: Pick<ReadDialect, 'account'>, octokit: Octokit): Promise<Account> {
  const { data } = await dialect.account(octokit);
  return { id: expectNumber(data.id), login: expectLogin(data.login) };
}
