/**
 * The pages for people: they are where REST answers say, show what happened, and let no one's
 * markup through.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { html } from '../../sandbox/pages/html.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile, git } from './support/git.ts';
import { call, createFilled, openPull } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const EVIL = `<script>alert("1")</script>'&`;
const workshop = new Workshop();
let host: Sandbox;
let pull: number;
let tip: string;

beforeAll(async () => {
  host = await startSandbox({ forkDelayMs: 0 });
  const workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello' });
  await createFilled(host, workTree, { owner: 'octocat', name: 'secret', private: true });
  tip = await commitFile(workTree, 'evil.html', `${EVIL}\n`, `${EVIL}\n\nBody ${EVIL}`);
  pull = await openPull(host, workTree, 'octocat/hello', 'topic');
  await call(host, 'PATCH', `/repos/octocat/hello/pulls/${pull}`, { title: EVIL, body: EVIL });
  await call(host, 'POST', '/repos/octocat/hello/issues', { title: EVIL, body: EVIL });
  host.maintainer.comment({ owner: 'octocat', repo: 'hello', number: pull }, EVIL, 'hubot');
  await fetch(`${host.notifyUrl}/`, {
    method: 'POST',
    body: JSON.stringify({
      topic: 'anon-pr-1',
      title: EVIL,
      message: EVIL,
      click: 'javascript:alert(1)',
      actions: [
        {
          action: 'http',
          label: 'Stop',
          url: 'http://stop.test/now?a&b',
          headers: { 'Content-Type': 'text/plain' },
          body: "it's",
        },
      ],
    }),
  });
  await git(workTree, 'push', '--quiet', host.repositoryPath('octocat', 'hello'), 'HEAD:refs/heads/copy');
});

afterAll(async () => {
  await host.close();
  workshop.remove();
});

async function visit(path: string): Promise<{ status: number; text: string; type: string }> {
  const response = await fetch(host.url + path);
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, text: await response.text(), type };
}

test('markup comes from templates only', () => {
  const inner = html`<b>${EVIL}</b>`;
  expect(html`<p title="${EVIL}">${inner}${[inner]}${1}</p>`.text).not.toMatch(/<script|"1"|'&/);
});

describe('every page', () => {
  test.each([
    ['/', 'octocat/hello'],
    ['/octocat', 'octocat/hello'],
    ['/octocat/hello', 'git clone'],
    ['/octocat/hello/tree/main', 'git clone'],
    ['/octocat/hello/pull/1', 'Author'],
    ['/octocat/hello/issues/2', 'No comments.'],
    ['/octocat/hello/blob/copy/evil.html', 'bytes'],
    ['/ntfy/anon-pr-1', 'javascript:alert(1)'],
    [
      '/ntfy/anon-pr-1',
      `curl -X POST 'http://stop.test/now?a&amp;b' -H 'Content-Type: text/plain' -d 'it'\\''s'`.replaceAll(
        "'",
        '&#39;',
      ),
    ],
  ])('%s is there, and escaped', async (path, shown) => {
    const { status, text, type } = await visit(path);
    expect([status, type]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(shown);
    expect(text).not.toContain('<script');
    expect(text).not.toContain('href="javascript');
    expect(text.match(/<\/html>/g)).toHaveLength(1);
    if (!['/octocat', '/octocat/hello/tree/main'].includes(path)) expect(text).toContain('&lt;script&gt;');
  });

  test('allows no script, whatever it holds', async () => {
    const { headers } = await fetch(host.url);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('is missing for what is private, missing or misspelt', async () => {
    const paths = [
      '/octocat/secret',
      '/octocat/nope',
      '/nobody',
      '/octocat/hello/issues/99',
      '/octocat/hello/pull/2',
      '/%zz',
    ];
    for (const path of paths) expect([path, (await visit(path)).status]).toEqual([path, 404]);
    expect((await visit('/')).text).not.toContain('secret');
    expect((await fetch(`${host.url}/octocat/hello`, { method: 'DELETE' })).status).toBe(405);
  });
});

test('a pull request’s page shows its commits whole, its diff and its comments', async () => {
  const { text } = await visit(`/octocat/hello/pull/${pull}`);
  for (const shown of [
    'Ann Author &lt;ann@example.org&gt;',
    'Carl Committer',
    `tree `,
    '+&lt;script&gt;',
    'hubot',
  ]) {
    expect(text).toContain(shown);
  }
});

test('addresses in REST answers lead to pages', exhaustive, async () => {
  const { body } = await call(host, 'GET', `/repos/octocat/hello/pulls/${pull}`);
  const file = await call(host, 'GET', '/repos/octocat/hello/contents/README.md');
  const { list } = await call(host, 'GET', `/repos/octocat/hello/pulls/${pull}/commits`);
  const user = body['user'] as { html_url: string };
  const addresses = [
    body['html_url'],
    body['diff_url'],
    body['patch_url'],
    user.html_url,
    file.body['html_url'],
  ];
  for (const address of [...addresses, file.body['download_url']]) {
    expect([address, (await fetch(String(address))).status]).toEqual([address, 200]);
  }
  expect((await visit(`/octocat/hello/commit/${tip}`)).text).toContain('Changes');
  expect(list[0]?.['sha']).toBe(tip);
  expect((await visit(`/octocat/hello/pull/${pull}.diff`)).text).toMatch(/^diff --git/);
  expect((await visit(`/octocat/hello/pull/${pull}.patch`)).text).toMatch(/^From /);
});

test('an address of a renamed repository leads on', async () => {
  host.createRepository({ owner: 'octocat', name: 'before' });
  host.maintainer.renameRepository('octocat', 'before', 'after');
  expect((await visit('/octocat/before')).text).toContain('octocat/after');
});
