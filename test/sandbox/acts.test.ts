/**
 * Acts of people as the maintainer, by the forms of the pages: they happen, and no other site can
 * cause them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { Workshop, commitFile } from './support/git.ts';
import { PERMISSIONS } from './support/app.ts';
import { call, createFilled, openPull } from './support/host.ts';
import { exhaustive } from '../support/exhaustive.ts';

const REPOSITORY = '/octocat/hello';
const workshop = new Workshop();
let host: Sandbox;
let forgotten = 0;
let workTree: string;
let count = 0;
let number: number;
let thread: string;

beforeAll(async () => {
  host = await startSandbox({ forkDelayMs: 0, forgetLimits: async () => void (forgotten += 1) });
  workTree = await workshop.workTree();
  await createFilled(host, workTree, { owner: 'octocat', name: 'hello', labels: ['bug', 'good first'] });
  await createFilled(host, workTree, { owner: 'octocat', name: 'secret', private: true });
  await openAnother();
});

/**
 * Opens another one, for a test that ends its pull request, or needs one that nobody has touched.
 */
async function openAnother(): Promise<void> {
  count += 1;
  await commitFile(workTree, `${count}.txt`, 'text\n', `Change ${count}`);
  number = await openPull(host, workTree, 'octocat/hello', `topic-${count}`);
  thread = `${REPOSITORY}/pull/${number}`;
}

afterAll(async () => {
  await host.close();
  workshop.remove();
});

interface Sent {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
}

/** Sends a form as a browser does. */
async function send(
  path: string,
  fields: [string, string][],
  origin: string | null = host.url,
): Promise<Sent> {
  const response = await fetch(host.url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
    headers: origin === null ? {} : { origin },
  });
  return { status: response.status, location: response.headers.get('location'), text: await response.text() };
}

const act = (name: string, text?: string): Promise<Sent> =>
  send(thread, [['act', name], ...(text === undefined ? [] : ([['text', text]] as [string, string][]))]);
const shown = async (path = thread): Promise<string> => (await fetch(host.url + path)).text();
const pull = async () => (await call(host, 'GET', `/repos/octocat/hello/pulls/${number}`)).body;

describe('on a pull request', () => {
  test(
    'a comment by the owner is posted, tells the bot, and leads back to the page',
    exhaustive,
    async () => {
      expect(await act('comment', 'Thanks <b>\r\na lot')).toMatchObject({ status: 303, location: thread });
      expect(await shown()).toContain('Thanks &lt;b&gt;\na lot');
      const { list } = await call(host, 'GET', `/repos/octocat/hello/issues/${number}/comments`);
      expect(list).toMatchObject([{ body: 'Thanks <b>\na lot', user: { login: 'octocat' } }]);
      const { list: told } = await call(host, 'GET', '/notifications');
      expect(JSON.stringify(told)).toContain(`/pulls/${number}"`);
    },
  );

  test('reviews are shown', async () => {
    await act('approve');
    await act('request-changes', 'Say why.');
    const { list } = await call(host, 'GET', `/repos/octocat/hello/pulls/${number}/reviews`);
    expect(list).toMatchObject([{ state: 'APPROVED' }, { state: 'CHANGES_REQUESTED', body: 'Say why.' }]);
    const page = await shown();
    for (const part of ['APPROVED', 'CHANGES_REQUESTED', 'Say why.']) expect(page).toContain(part);
  });

  test('a merge happens once, and then the page offers none', exhaustive, async () => {
    await openAnother();
    expect(await shown()).toContain('value="merge"');
    expect((await act('merge')).status).toBe(303);
    expect(await pull()).toMatchObject({ merged: true, state: 'closed' });
    const again = await act('merge');
    expect([again.status, again.text.includes(`#${number} is no open pull request`)]).toEqual([409, true]);
    expect(await shown()).not.toContain('value="merge"');
  });

  test('a merge with a conflict is refused in words', exhaustive, async () => {
    const other = await workshop.workTree();
    await commitFile(other, 'x.txt', 'theirs\n', 'Theirs');
    await createFilled(host, other, { owner: 'octocat', name: 'conflict' });
    await host.maintainer.writeFile('octocat', 'conflict', 'y.txt', 'ours\n');
    await commitFile(other, 'y.txt', 'theirs\n', 'Also theirs');
    const conflicting = await openPull(host, other, 'octocat/conflict', 'topic');
    const { status, text } = await send(`/octocat/conflict/pull/${conflicting}`, [['act', 'merge']]);
    expect([status, text.includes('cannot be merged')]).toEqual([409, true]);
  });

  test('it is closed unmerged', exhaustive, async () => {
    await openAnother();
    expect((await act('close')).status).toBe(303);
    expect(await pull()).toMatchObject({ merged: false, state: 'closed' });
  });

  test('it gets the labels that are ticked, and only those that exist', exhaustive, async () => {
    await openAnother();
    const fields: [string, string][] = [
      ['act', 'label'],
      ['label', 'good first'],
      ['label', 'none'],
    ];
    expect((await send(thread, fields)).status).toBe(303);
    expect(await pull()).toMatchObject({ labels: [{ name: 'good first' }] });
    expect(await shown()).toContain('Labels: good first');
    expect(await shown()).toMatch(/value="good first"\s+checked/);
    await send(thread, [['act', 'label']]);
    expect(await pull()).toMatchObject({ labels: [] });
  });

  test.each([
    ['comment', ' \r\n', 'The text is empty'],
    ['request-changes', '', 'The text is empty'],
    ['comment', 'x'.repeat(65_537), 'more than 65536 characters'],
    ['dance', 'x', 'no such action'],
    ['forget-limits', '', 'no such action'],
    ['policy', 'x', 'no such action'],
  ])('%s with a wrong text or in a wrong place does nothing, and says why', async (name, text, reason) => {
    const before = await pull();
    const sent = await act(name, text);
    expect([sent.status, sent.text.includes(reason)]).toEqual([409, true]);
    expect(await pull()).toEqual(before);
  });
});

const policyFile = async (): Promise<string> =>
  (await fetch(`${host.url}${REPOSITORY}/blob/main/.gitveil.yml?raw`)).text();

describe('on a repository', () => {
  test('the policy is committed, shown, replaced and deleted', async () => {
    const send1 = await send(REPOSITORY, [
      ['act', 'policy'],
      ['text', 'issues: false\r\n# <b>'],
    ]);
    expect(send1).toMatchObject({ status: 303, location: REPOSITORY });
    expect(await policyFile()).toBe('issues: false\n# <b>\n');
    expect(await shown(REPOSITORY)).toContain('issues: false\n# &lt;b&gt;\n</textarea');
    await send(REPOSITORY, [
      ['act', 'policy'],
      ['text', 'pulls: false'],
    ]);
    expect(await policyFile()).toBe('pulls: false\n');
    await send(REPOSITORY, [['act', 'policy']]);
    expect((await fetch(`${host.url}${REPOSITORY}/blob/main/.gitveil.yml?raw`)).status).toBe(404);
    expect((await fetch(`${host.url}${REPOSITORY}/blob/main/README.md`)).status).toBe(200);
  });

  test('it works in an empty one, and nothing works in a private or missing one', async () => {
    host.createRepository({ owner: 'octocat', name: 'empty' });
    const fields: [string, string][] = [
      ['act', 'policy'],
      ['text', 'issues: false'],
    ];
    expect((await send('/octocat/empty', fields)).status).toBe(303);
    expect((await send('/octocat/secret', fields)).status).toBe(409);
    expect((await send('/octocat/nope', fields)).status).toBe(409);
    expect((await send('/octocat/hello/pull/9999', [['act', 'close']])).status).toBe(409);
  });
});

describe('the limits of the service', () => {
  test('are forgotten by the button of the front page', async () => {
    expect(await shown('/')).toContain('Forget the limits of this machine');
    expect(await send('/', [['act', 'forget-limits']])).toMatchObject({ status: 303, location: '/' });
    expect(forgotten).toBe(1);
  });

  test('have no button, and cannot be forgotten, where the service is another program', async () => {
    const other = await startSandbox();
    try {
      expect(await (await fetch(other.url)).text()).not.toContain('Forget the limits');
      const body = new URLSearchParams({ act: 'forget-limits' });
      const answer = await fetch(other.url, { method: 'POST', body, headers: { origin: other.url } });
      expect(answer.status).toBe(409);
    } finally {
      await other.close();
    }
  });
});

test('no other site can act, whatever its name leads to', exhaustive, async () => {
  await openAnother();
  const port = new URL(host.url).port;
  const origins = [
    null,
    'null',
    'https://evil.example',
    `http://evil.example:${port}`,
    `http://127.0.0.1:${Number(port) + 1}`,
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
  ];
  for (const origin of origins) {
    const comment = await send(
      thread,
      [
        ['act', 'comment'],
        ['text', 'x'],
      ],
      origin,
    );
    expect([origin, comment.status]).toEqual([origin, 403]);
    expect((await send('/', [['act', 'forget-limits']], origin)).status).toBe(403);
  }
  expect(await pull()).toMatchObject({ comments: 0 });
  expect((await act('comment', 'From here')).status).toBe(303);
  const local = await send(
    thread,
    [
      ['act', 'comment'],
      ['text', 'x'],
    ],
    `http://localhost:${port}`,
  );
  expect(local.status).toBe(303);
  const policy = (await fetch(host.url)).headers.get('content-security-policy');
  expect(policy).toContain("form-action 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
});

test('two merges at once both happen', exhaustive, async () => {
  await openAnother();
  const first = thread;
  await commitFile(workTree, 'second.txt', 'text\n', 'Second');
  const second = await openPull(host, workTree, 'octocat/hello', 'second');
  const answers = await Promise.all([
    send(first, [['act', 'merge']]),
    send(`${REPOSITORY}/pull/${second}`, [['act', 'merge']]),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
});

test('the App: installed in a repository, suspended, and removed', async () => {
  host.apps.register({ slug: 'gitveil', permissions: PERMISSIONS });
  const acts = async (name: string) => send(REPOSITORY, [['act', name]]);
  expect(await shown('/apps/gitveil')).toContain('issues: write');
  expect(await shown(REPOSITORY)).toContain('is not installed here');
  expect((await acts('suspend-app')).status).toBe(409);
  expect((await acts('install-app')).status).toBe(303);
  expect(await shown(REPOSITORY)).toContain('is installed');
  await acts('suspend-app');
  expect(await shown(REPOSITORY)).toContain('is suspended');
  await acts('resume-app');
  await acts('remove-app');
  expect(host.apps.ofAccount('octocat')).toBeUndefined();
});
