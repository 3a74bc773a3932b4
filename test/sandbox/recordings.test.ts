/** The embedded host's answers beside GitHub's own, for the calls that the service makes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { type ApiAnswer, call, createFilled, fork, openPull } from './support/host.ts';
import { example } from './support/openapi.ts';
import { differences, recording, type Recorded } from './support/recordings.ts';
import { exhaustive } from '../support/exhaustive.ts';

const workshop = new Workshop();
const UPSTREAM = '/repos/octocat/hello';
let host: Sandbox;
let tip: string;
let number: number;
let forked: string;

beforeAll(async () => {
  host = await startSandbox();
  const workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello', takesPrivateReports: true });
  await createFilled(host, workTree, { owner: 'octocat', name: 'before' });
  host.maintainer.renameRepository('octocat', 'before', 'after');
  tip = (await git(workTree, 'rev-parse', 'HEAD')).trim();
  await commitFile(workTree, 'news.txt', 'News\n', 'Add news');
  number = await openPull(host, workTree, 'octocat/hello', 'anon-0123456789ab');
  forked = `/repos/${host.botLogin}/${await fork(host, 'octocat/hello')}`;
  const on = { owner: 'octocat', repo: 'hello', number };
  host.maintainer.comment(on, 'Hm', 'mona');
  host.maintainer.review(on, 'APPROVED', 'Good', 'mona');
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

/** Status and body; and whether the service is led elsewhere. */
function expectAlike(theirs: Recorded, ours: ApiAnswer): void {
  expect(ours.status).toBe(theirs.status);
  const body = Array.isArray(theirs.body) ? ours.list : ours.body;
  if (theirs.status !== 204 && theirs.status !== 205) expect(differences(theirs.body, body)).toEqual([]);
  if (theirs.status > 300)
    expect(ours.headers.has('location')).toBe(theirs.headers['location'] !== undefined);
}

/**
 * The first part of a Link header without its address: GitHub names repositories by number there.
 */
function words(link: string | null): string | undefined {
  return link?.replaceAll(/<[^>]*>/g, '<>').split(',')[0];
}

describe('as recorded', () => {
  test('a repository', async () => {
    expectAlike(recording('get-repository', 'GET', /hello-world$/), await call(host, 'GET', UPSTREAM));
  });

  test('a renamed repository: 301 to a read, 307 to a write', async () => {
    const read = recording('rename-repository', 'GET', /rename-repository$/);
    expectAlike(read, await call(host, 'GET', '/repos/octocat/before'));
    const write = recording('rename-repository', 'PATCH', /rename-repository$/, 307);
    const issue = { title: 'Hm', body: 'Words' };
    expectAlike(write, await call(host, 'POST', '/repos/octocat/before/issues', issue));
  });

  test('a ref: made, moved, deleted', async () => {
    const made = recording('git-refs', 'POST', /git\/refs$/);
    const refs = `${forked}/git/refs`;
    expectAlike(made, await call(host, 'POST', refs, { ref: 'refs/heads/one', sha: tip }));
    const moved = recording('git-refs', 'PATCH', /heads\/test$/);
    expectAlike(moved, await call(host, 'PATCH', `${refs}/heads/one`, { sha: tip, force: true }));
    expectAlike(
      recording('git-refs', 'DELETE', /heads\/test$/),
      await call(host, 'DELETE', `${refs}/heads/one`),
    );
  });

  test('an issue', exhaustive, async () => {
    const made = recording('add-labels-to-issue', 'POST', /issues$/);
    expectAlike(made, await call(host, 'POST', `${UPSTREAM}/issues`, { title: 'Hm', body: 'Words' }));
  });

  test('a page of a list', exhaustive, async () => {
    await call(host, 'POST', `${UPSTREAM}/issues`, { title: 'More', body: 'Words' });
    const { headers } = recording('paginate-issues', 'GET', /per_page=3$/);
    host.maintainer.comment({ owner: 'octocat', repo: 'hello', number: number + 1 }, 'Hm', 'mona');
    const paged = await call(host, 'GET', '/notifications?all=true&per_page=1');
    expect(words(paged.headers.get('link'))).toBe(words(headers['link'] ?? null));
  });

  test('a refusal with 422', async () => {
    const refused = recording('errors', 'POST', /labels$/);
    const pull = { title: 'Hm', head: `${host.botLogin}:nowhere`, base: 'main' };
    expectAlike(refused, await call(host, 'POST', `${UPSTREAM}/pulls`, pull));
  });

  test('notifications that are marked as read', async () => {
    expectAlike(
      recording('mark-notifications-as-read', 'PUT', /notifications$/),
      await call(host, 'PUT', '/notifications', {}),
    );
  });
});

describe("as in the examples of GitHub's description", exhaustive, () => {
  const REPOSITORY = '/repos/{owner}/{repo}';
  const vulnerability = {
    package: { ecosystem: 'npm', name: 'doors' },
    vulnerable_version_range: '< 2',
    patched_versions: '2',
  };
  const REPORT = {
    summary: 'It opens doors',
    description: 'Knock twice.',
    severity: 'high',
    cwe_ids: ['CWE-79'],
    vulnerabilities: [vulnerability],
  };

  test.each<[string, string, number, string, unknown?]>([
    ['GET', `${REPOSITORY}/pulls/{pull_number}`, 200, '/pulls/N'],
    ['GET', `${REPOSITORY}/pulls`, 200, '/pulls?state=all'],
    ['PATCH', `${REPOSITORY}/pulls/{pull_number}`, 200, '/pulls/N', { title: 'Other' }],
    ['GET', `${REPOSITORY}/pulls/{pull_number}/reviews`, 200, '/pulls/N/reviews'],
    ['GET', `${REPOSITORY}/issues/{issue_number}/comments`, 200, '/issues/N/comments'],
    ['POST', `${REPOSITORY}/issues/{issue_number}/comments`, 201, '/issues/N/comments', { body: 'Hm' }],
    ['POST', `${REPOSITORY}/merge-upstream`, 200, 'FORK/merge-upstream', { branch: 'main' }],
    ['POST', `${REPOSITORY}/forks`, 202, '/forks', {}],
    ['POST', `${REPOSITORY}/security-advisories/reports`, 201, '/security-advisories/reports', REPORT],
    ['GET', '/notifications', 200, 'ROOT/notifications?all=true'],
    ['GET', '/user', 200, 'ROOT/user'],
  ])('%s %s', async (method, template, status, where, payload) => {
    const path = where.startsWith('ROOT')
      ? where.slice(4)
      : where.startsWith('FORK')
        ? forked + where.slice(4)
        : UPSTREAM + where.replace('N', String(number));
    const ours = await call(host, method, path, payload);
    expect(ours.status).toBe(status);
    const theirs = example(method, template, status);
    expect(differences(theirs, Array.isArray(theirs) ? ours.list : ours.body)).toEqual([]);
  });
});
