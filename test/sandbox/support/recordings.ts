/**
 * Recordings of GitHub's real answers, with which its own client libraries are tested
 * (`@octokit/fixtures`).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SCENARIOS = join(
  import.meta.dirname,
  '../../../node_modules/@octokit/fixtures/scenarios/api.github.com',
);

export interface Recorded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface RecordedCall {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly response: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The first answer to such a call in a scenario, with that status if one is named.
 * @throws Error
 */
export function recording(scenario: string, method: string, path: RegExp, status?: number): Recorded {
  const file = join(SCENARIOS, scenario, 'normalized-fixture.json');
  const calls = JSON.parse(readFileSync(file, 'utf8')) as RecordedCall[];
  const found = calls
    .filter((call) => call.method === method.toLowerCase() && path.test(call.path))
    .find((call) => status === undefined || call.status === status);
  if (found === undefined) throw new Error(`${scenario} has no ${method} ${path}`);
  return { status: found.status, headers: found.headers, body: found.response };
}

/**
 * Fields that GitHub shows only to members and to accounts that may push, as those that made the
 * recordings, or to those that use a feature.
 */
const NOT_FOR_STRANGERS = new Set([
  'permissions',
  'temp_clone_token',
  'allow_squash_merge',
  'allow_merge_commit',
  'allow_rebase_merge',
  'allow_auto_merge',
  'allow_update_branch',
  'delete_branch_on_merge',
  'use_squash_pr_title_as_default',
  'organization',
  'subscribers_count',
  'network_count',
  'template_repository',
  'plan',
  // In a short form of a repository only its example has them.
  'git_url',
  'ssh_url',
]);

/**
 * Fields that GitHub's body has and ours lacks, or has with another type. Null, and an empty list,
 * say nothing.
 */
export function differences(theirs: unknown, ours: unknown, path = ''): string[] {
  const [kind, ownKind] = [kindOf(theirs), kindOf(ours)];
  if (theirs === null || ours === null) return [];
  if (kind !== ownKind) return [`${path || 'the body'} is ${ownKind}, not ${kind}`];
  if (Array.isArray(theirs)) {
    const [first, own] = [theirs[0], (ours as unknown[])[0]];
    return first === undefined || own === undefined ? [] : differences(first, own, `${path}[0]`);
  }
  if (kind !== 'object') return [];
  const shown = Object.entries(theirs as object).filter(([key]) => !NOT_FOR_STRANGERS.has(key));
  return shown.flatMap(([key, value]) =>
    differences(value, (ours as Record<string, unknown>)[key], `${path}.${key}`),
  );
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}
