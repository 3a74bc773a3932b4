/**
 * Answers of Forgejo and Gitea that no server of the tests gives: other versions, quotas,
 * conflicts.
 */
import { describe, expect, it } from 'vitest';
import { type AgitHost, openRepositories } from '../../../src/host/open.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { json, PatientClock, type Script, ScriptedHost } from '../support/scripted-host.ts';

const NAME = { owner: 'mona', name: 'hello' };
const TIP = 'a'.repeat(40);
const HEAD = { owner: 'bot', branch: 'anon-1' };

function opened(script: Script) {
  const http = new ScriptedHost(script);
  const apiUrl = 'https://host.test/api/v1';
  const clock = new PatientClock();
  const access = { apiUrl, token: 'secret', http, ...ACCOUNT, clock };
  const asked = () =>
    http.asked.map(({ method, path }) => `${method} ${path.replace('/api/v1/repos/mona/hello', '')}`);
  return { http, asked, clock, repositories: openRepositories({ kind: 'forgejo', ...access }) as AgitHost };
}

const answered = (owner: string) => ({
  id: 8,
  name: 'hello',
  owner: { id: 1, login: owner },
  private: false,
  archived: false,
  size: 1,
});
describe('a repository is called private', () => {
  it.each([
    ['it is', { private: true }],
    ['its owner is', { internal: true }],
    [
      'its owner shows it to people who are signed in',
      { owner: { id: 2, login: 'mona', visibility: 'limited' } },
    ],
  ])('where %s', async (_, facts) => {
    const { repositories } = opened(() => json(200, { ...answered('mona'), ...facts }));
    expect(await repositories.repository(NAME)).toMatchObject({ isPrivate: true });
  });
});

it('a private repository that is shown to the bot does not exist for a token for public ones', async () => {
  const { repositories } = opened(() => json(403, { message: 'token scope is limited to public repos' }));
  await expect(repositories.repository(NAME)).rejects.toMatchObject({ code: 'missing' });
  expect(await repositories.file(NAME, 'x')).toEqual({ kind: 'missing' });
});

it('a file of more than 1 MB is unreadable', async () => {
  const { repositories } = opened(() =>
    json(200, { type: 'file', encoding: 'base64', content: 'eA==', size: 2_000_000 }),
  );
  expect(await repositories.file(NAME, 'x')).toEqual({ kind: 'unreadable' });
});

describe('a repository takes pull requests', () => {
  it.each([
    ['all', 'where a server says nothing of it', {}],
    ['all', 'where they are on', { has_pull_requests: true, mirror: false }],
    ['none', 'where they are off', { has_pull_requests: false }],
    ['none', 'in a mirror', { has_pull_requests: true, mirror: true }],
  ])('of %s: %s', async (pullRequests, _, facts) => {
    const { repositories } = opened(() => json(200, { ...answered('mona'), ...facts }));
    expect(await repositories.repository(NAME)).toMatchObject({ pullRequests });
  });
});

const pull = (number: number, facts: object = {}) => ({
  id: 100 + number,
  number,
  title: 'T',
  body: 'B',
  html_url: `https://host.test/mona/hello/pulls/${number}`,
  user: { id: 1, login: 'bot' },
  state: 'open',
  base: { ref: 'main' },
  head: { label: '', ref: `refs/pull/${number}/head`, sha: TIP, repo: null },
  ...facts,
});
const others = { user: { id: 2, login: 'mona' } };
const missing = () => json(404, { message: 'no' });

describe('a pull request is looked for', () => {
  it('by its number, if it was recorded in this repository and is the bot’s', async () => {
    const { asked, repositories } = opened(({ path }) =>
      path.includes('/pulls?')
        ? json(200, [])
        : json(200, pull(3, path.endsWith('/4') ? { number: 4, ...others } : {})),
    );
    const find = (number: number, repo = 'hello') =>
      repositories.findPullRequest(NAME, HEAD, { owner: 'Mona', repo, number });
    expect(await find(3)).toMatchObject({ number: 3, id: 103, isOpen: true });
    expect(asked()).toEqual(['GET /pulls/3']);
    expect(await find(4)).toBeNull();
    expect(await find(3, 'another')).toBeNull();
  });

  it('by each base that the bot has proposed to, of which the open one counts', async () => {
    const { asked, repositories } = opened(({ path }) => {
      if (path.includes('/pulls?')) {
        const of = (base: string, number: number, facts = {}) =>
          pull(number, { base: { ref: base }, ...facts });
        return json(200, [of('next', 9), of('main', 8), of('main', 7), of('theirs', 6, others)]);
      }
      if (path.endsWith('/pulls/next/bot%2Fanon-1')) return json(200, pull(2, { state: 'closed' }));
      return path.endsWith('/pulls/main/bot%2Fanon-1') ? json(200, pull(5)) : missing();
    });
    expect(await repositories.findPullRequest(NAME, HEAD)).toMatchObject({ number: 5 });
    expect(asked()).toHaveLength(3);
    expect(await repositories.findPullRequest(NAME, { owner: 'bot', branch: 'anon-2' })).toBeNull();
  });

  it('by the server’s own number for it, where that was recorded, whatever the repository was called', async () => {
    const { repositories } = opened(({ path }) =>
      path.includes('/pulls?') ? json(200, []) : json(200, pull(3)),
    );
    const find = (id: number, repo: string) =>
      repositories.findPullRequest(NAME, HEAD, { owner: 'mona', repo, number: 3, id });
    expect(await find(103, 'renamed')).toMatchObject({ number: 3 });
    expect(await find(104, 'hello')).toBeNull();
  });

  it('by five bases at most, the default branch first, and each is asked again by itself', async () => {
    const repo = { default_branch: 'main' };
    const names = ['a', 'b', 'c', 'd', 'e', 'main'];
    let faults = 1;
    const { asked, repositories } = opened(({ path }) => {
      if (path.includes('/pulls?'))
        return json(
          200,
          names.map((name, index) => pull(index + 1, { base: { ref: name, repo } })),
        );
      return path.includes('/pulls/b/') && (faults -= 1) >= 0 ? json(500, {}) : missing();
    });
    expect(await repositories.findPullRequest(NAME, HEAD)).toBeNull();
    const [, ...bases] = asked().map((line) => /pulls\/([^/]+)\//.exec(line)?.[1]);
    expect(bases).toEqual(['main', 'a', 'b', 'b', 'c', 'd']);
  });

  it('by its newest commit, if it is open and the bot’s', async () => {
    const { repositories } = opened(() =>
      json(200, [pull(9, others), pull(8, { state: 'closed' }), pull(7)]),
    );
    expect(await repositories.findDelivered(NAME, 'Bot', TIP)).toMatchObject({ number: 7 });
    expect(await repositories.findDelivered(NAME, 'bot', 'b'.repeat(40))).toBeNull();
  });

  it('by its newest commit on a few pages, and not for ever', async () => {
    const next = { Link: '<https://host.test/x?page=2>; rel="next"' };
    const { asked, repositories } = opened(() => json(200, [pull(9)], next));
    expect(await repositories.findDelivered(NAME, 'bot', 'b'.repeat(40))).toBeNull();
    expect(asked()).toHaveLength(4);
  });
});

const base64 = (text: string) => `{base64}${Buffer.from(text).toString('base64')}`;

describe('a push', () => {
  const host = opened(missing).repositories;
  const saying = (title: string, body: string, isDraft = false) =>
    host.agitPush({ base: 'main', topic: 'anon-1', text: { title, body, isDraft }, isForced: false })
      .pushOptions;

  it('says nothing but its topic where the pull request keeps its text', () => {
    const request = { base: 'release/1.0', topic: 'anon-1', text: null };
    expect(host.agitPush({ ...request, isForced: false })).toEqual({
      refName: 'refs/for/release/1.0',
      pushOptions: ['topic=anon-1'],
    });
    expect(host.agitPush({ ...request, isForced: true }).pushOptions).toContain('force-push=true');
  });

  it.each([
    ['Mend it', true, 'WIP: Mend it'],
    ['wip: Mend it', true, 'wip: Mend it'],
    ['[WIP] Mend it', true, '[WIP] Mend it'],
    ['WIPE it', true, 'WIP: WIPE it'],
    ['Mend it', false, 'Mend it'],
  ])('with the title %j, draft: %s', (title, isDraft, sent) => {
    expect(saying(title, 'B', isDraft)).toContain(`title=${sent}`);
  });

  it('encodes every text that is more than a line, and no server can take for another option', () => {
    expect(saying('T', 'One\ntopic=x')).toEqual([
      'topic=anon-1',
      'title=T',
      `description=${base64('One\ntopic=x')}`,
    ]);
    expect(saying('{base64}eA==', 'B')).toContain(`title=${base64('{base64}eA==')}`);
    for (const option of saying('a\nb\0c', 'd\0e')) expect(option).not.toMatch(/[\0\n]/);
  });

  it('sends a line as it is, because some servers tell their watchers the description before they decode it', () => {
    expect(saying('T', 'One line, with = and ü')).toContain('description=One line, with = and ü');
    expect(saying('T', '{base64}eA==')).toContain(`description=${base64('{base64}eA==')}`);
  });

  it('never leaves the description to the server, which would take it from a message', () => {
    expect(saying('T', '')).toContain(`description=${base64('\n')}`);
  });

  it('has options that fit into a packet', () => {
    for (const option of saying('T'.repeat(300), 'ä'.repeat(65_536)))
      expect(option.length).toBeLessThan(65_000);
  });

  it.each(['request `force-push` push option', "request 'force-push' push option"])(
    'was overtaken: %s',
    (reason) => {
      expect(host.isStale(reason)).toBe(true);
      expect(host.isStale('base-branch does not exist')).toBe(false);
    },
  );
});

describe('an opened pull request', () => {
  const text = { title: 'T', body: 'B', isDraft: false };

  it.each([
    ['as it was asked for is left alone', { title: 'T', body: 'B\n' }, 0],
    ['by a server that does not decode gets its text', { title: 'T', body: '{base64}Qg==' }, 1],
    ['whose text was filled in gets the right one', { title: 'T', body: 'From a message' }, 1],
  ])('%s', async (_, shown, edits) => {
    const { http, repositories } = opened(() => json(200, pull(3, shown)));
    expect(await repositories.delivered(NAME, 3, text)).toMatchObject({ number: 3 });
    expect(http.writes.map(({ method, body }) => [method, JSON.parse(body) as object])).toEqual(
      Array.from({ length: edits }, () => ['PATCH', { title: 'T', body: 'B' }]),
    );
  });

  it('that was only updated keeps its text', async () => {
    const { http, repositories } = opened(() => json(200, pull(3, { title: 'Another' })));
    await repositories.delivered(NAME, 3, null);
    expect(http.writes).toEqual([]);
  });
});
