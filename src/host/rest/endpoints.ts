/**
 * In place of `@octokit/plugin-rest-endpoint-methods`, whose table of all of GitHub's endpoints is a thirtieth of the Worker:
 * those that are called here. Its types hold for these, too; a test compares them with it.
 */
interface Requests {
  readonly request: { defaults(endpoint: { readonly method: string; readonly url: string }): unknown };
}

const REPOSITORY = '/repos/{owner}/{repo}';
const ISSUE = `${REPOSITORY}/issues/{issue_number}`;
const COMMENT = `${REPOSITORY}/issues/comments/{comment_id}`;
const PULL = `${REPOSITORY}/pulls/{pull_number}`;

/** By scope and name: method and path. */
export const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  activity: { listNotificationsForAuthenticatedUser: 'GET /notifications' },
  git: {
    createRef: `POST ${REPOSITORY}/git/refs`,
    deleteRef: `DELETE ${REPOSITORY}/git/refs/{ref}`,
    getRef: `GET ${REPOSITORY}/git/ref/{ref}`,
    updateRef: `PATCH ${REPOSITORY}/git/refs/{ref}`,
  },
  issues: {
    create: `POST ${REPOSITORY}/issues`,
    createComment: `POST ${ISSUE}/comments`,
    deleteComment: `DELETE ${COMMENT}`,
    get: `GET ${ISSUE}`,
    getComment: `GET ${COMMENT}`,
    listComments: `GET ${ISSUE}/comments`,
    update: `PATCH ${ISSUE}`,
    updateComment: `PATCH ${COMMENT}`,
  },
  pulls: {
    create: `POST ${REPOSITORY}/pulls`,
    get: `GET ${PULL}`,
    list: `GET ${REPOSITORY}/pulls`,
    listFiles: `GET ${PULL}/files`,
    listReviewComments: `GET ${PULL}/comments`,
    listReviews: `GET ${PULL}/reviews`,
    update: `PATCH ${PULL}`,
  },
  repos: {
    createFork: `POST ${REPOSITORY}/forks`,
    get: `GET ${REPOSITORY}`,
    getContent: `GET ${REPOSITORY}/contents/{path}`,
    mergeUpstream: `POST ${REPOSITORY}/merge-upstream`,
  },
  users: { getAuthenticated: 'GET /user' },
};

export function legacyRestEndpointMethods({ request }: Requests) {
  const methodsOf = (endpoints: Readonly<Record<string, string>>) =>
    Object.entries(endpoints).map(([name, endpoint]) => {
      const [method = '', url = ''] = endpoint.split(' ');
      return [name, request.defaults({ method, url })] as const;
    });
  const scopes = Object.entries(ENDPOINTS).map(([scope, endpoints]) => [
    scope,
    Object.fromEntries(methodsOf(endpoints)),
  ]);
  return { rest: Object.fromEntries(scopes) as Record<string, Record<string, unknown>> };
}
