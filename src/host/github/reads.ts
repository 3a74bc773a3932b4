/** How GitHub is asked for what more than one interface reads. */
import type { Repository } from '../code-host.ts';
import type { RepositoryName } from '../../repository-name.ts';
import {
  expectFlag,
  expectList,
  expectNumber,
  expectRepository,
  expectSize,
  expectStatus,
} from '../rest/answer.ts';
import { lookUpWith } from '../git/visibility.ts';
import type { RestCalls } from '../rest/octokit.ts';
import type { ReadDialect } from '../rest/reads.ts';

/** The most that GitHub gives at once. */
export const PAGE_SIZE = 100;

export const GITHUB_READS = {
  account: ({ rest }, limits) => rest.users.getAuthenticated({ ...limits }),

  async pull({ rest }, { index, ...place }) {
    const { data } = await rest.pulls.get({ ...place, pull_number: index });
    return withBranch(data);
  },

  comments({ rest, paginate }, { index, ...place }, since) {
    const query = { ...place, issue_number: index, since, per_page: PAGE_SIZE };
    return paginate(rest.issues.listComments, query, (page) => {
      // A page of another shape must not pass for a thread without comments.
      expectStatus(page, 200);
      return [...expectList(page.data)];
    });
  },

  lookUp,
} satisfies ReadDialect;

async function lookUp(calls: RestCalls, name: RepositoryName): Promise<Repository> {
  return lookUpWith(calls, name, async () => {
    const { data } = await calls.octokit.rest.repos.get({ owner: name.owner, repo: name.name });
    const id = expectNumber(data.id);
    return {
      ...expectRepository(data),
      id,
      networkId: data.source?.id ?? id,
      isPrivate: expectFlag(data.private),
      isArchived: expectFlag(data.archived),
      pullRequests: pullRequestsOf(data),
      sizeKb: expectSize(data.size),
    };
  });
}

/** What Octokit does not declare yet. */
interface Answered {
  readonly has_pull_requests?: boolean;
  readonly pull_request_creation_policy?: string;
  readonly permissions?: { readonly push: boolean };
}

/** An older GitHub Enterprise Server says nothing of it. */
function pullRequestsOf(data: Answered): Repository['pullRequests'] {
  if (data.has_pull_requests === false) return 'none';
  const isCollaborator = data.permissions?.push === true;
  const isClosed = data.pull_request_creation_policy === 'collaborators_only' && !isCollaborator;
  return isClosed ? 'collaborators' : 'all';
}

export function withBranch<T extends { readonly head: { readonly ref: string } }>(
  pull: T,
): T & { readonly branch: string } {
  return { ...pull, branch: pull.head.ref };
}
