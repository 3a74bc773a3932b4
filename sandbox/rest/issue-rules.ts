/**
 * Rules that issues and pull requests share: which texts GitHub refuses, lists by state, closing
 * and retitling.
 */
import type { Issue, Repository } from '../records.ts';
import type { ApiCall, FieldError } from './api-call.ts';
import { Refusal, notFound, requireViewer, validationFailed } from './api-call.ts';

const MAX_TITLE_CHARACTERS = 256;
export const MAX_BODY_CHARACTERS = 65_536;

/** Lists the errors of the title and body of a new issue or pull request. */
export function textErrors(title: unknown, body: unknown): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof title !== 'string' || title.trim() === '') {
    errors.push({ resource: 'Issue', code: 'missing_field', field: 'title' });
  } else if (characters(title) > MAX_TITLE_CHARACTERS) {
    errors.push(tooLong('Issue', 'title', MAX_TITLE_CHARACTERS));
  }
  return [...errors, ...bodyErrors('Issue', body)];
}

/** Lists the errors of a body, which may be absent. */
function bodyErrors(resource: string, body: unknown): FieldError[] {
  if (body === undefined || body === null) return [];
  if (typeof body !== 'string') return [{ resource, code: 'invalid', field: 'body' }];
  return characters(body) > MAX_BODY_CHARACTERS ? [tooLong(resource, 'body', MAX_BODY_CHARACTERS)] : [];
}

/** Refuses additions to an archived repository. */
export function requireOpenRepository(repository: Repository): void {
  if (repository.archived) throw new Refusal(403, 'Repository was archived so is read-only.');
}

/** Selects the issues of the state that the query names, newest first; open ones by default. */
export function selectByState(call: ApiCall, issues: readonly Issue[]): Issue[] {
  const state = call.url.searchParams.get('state') ?? 'open';
  if (!['open', 'closed', 'all'].includes(state)) {
    throw validationFailed({ resource: 'Issue', code: 'invalid', field: 'state' });
  }
  return issues.filter((issue) => state === 'all' || issue.state === state).toReversed();
}

/**
 * Applies `title`, `body` and `state` of a PATCH. Only the author and the repository's owner may do
 * that.
 */
export function closeOrReopen(call: ApiCall, repository: Repository, issue: Issue): void {
  const { host, payload } = call;
  const viewer = requireViewer(call);
  if (viewer.login !== issue.author && viewer.login !== repository.owner) throw notFound();
  requireOpenRepository(repository);
  const { title, body, state } = payload;
  const errors = textErrors(title ?? issue.title, body);
  if (state !== undefined && state !== 'open' && state !== 'closed') {
    errors.push({ resource: 'Issue', code: 'invalid', field: 'state' });
  }
  if (errors.length > 0) throw validationFailed(...errors);
  if (typeof title === 'string') issue.title = title.trim();
  if (body !== undefined) issue.body = body as string | null;
  if (title !== undefined || body !== undefined)
    host.threadChanged(repository, issue, 'edited', viewer.login);
  if (state === 'open' || state === 'closed') host.setIssueState(repository, issue, state, viewer.login);
  issue.updatedAt = host.store.timestamp();
  host.store.changed();
}

/** Counts code points, as GitHub does: a surrogate pair of a JavaScript string is one character. */
export function characters(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

function tooLong(resource: string, field: string, limit: number): FieldError {
  const message = `${field} is too long (maximum is ${limit} characters)`;
  return { resource, code: 'custom', field, message };
}
