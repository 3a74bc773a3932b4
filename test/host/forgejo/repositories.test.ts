/** What Forgejo and Gitea answer that no server of the tests does: other versions, quotas, conflicts. */
import { describe, expect, it } from 'vitest';
import { openRepositories } from '../../../src/host/open.ts';
import { ACCOUNT } from '../support/back-off.ts';
import { json, PatientClock, type Script, ScriptedHost } from '../support/scripted-host.ts';

const NAME = { owner: 'mona', name: 'hello' };
const REPOSITORY = {
  ...NAME,
  id: 7,
  networkId: 7,
  isPrivate: false,
  isArchived: false,
  pullRequests: 'all',
  sizeKb: 1,
} as const;
const FORK = { owner: 'bot', name: 'hello' };
const TIP = 'a'.repeat(40);
const BRANCH = { repository: NAME, name: 'release/1.0', tip: TIP };
let hosts = 0;

function opened(script: Script) {
  const http = new ScriptedHost(script);
  // What one server does not know, another one may.
  const apiUrl = `https://host-${(hosts += 1)}.test/api/v1`;
  const clock = new PatientClock();
  const access = { apiUrl, token: 'secret', http, ...ACCOUNT, clock };
  const asked = () =>
    http.asked.map(({ method, path }) => `${method} ${path.replace('/api/v1/repos/bot/hello', '')}`);
  return { http, asked, clock, repositories: openRepositories({ kind: 'forgejo', ...access }) };
}

const answered = (owner: string, name = 'hello', parent: object | null = { id: 7 }) => ({
  id: 8,
  name,
  owner: { id: 1, login: owner },
  private: false,
  archived: false,
  size: 1,
  parent,
});
const user = json.bind(null, 200, { id: 1, login: 'bot' });
const unknownRoute = () => new Response('404 page not found\n', { status: 404 });
const pkt = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;

const refs = (tip = TIP) => new Response(`${pkt(`${tip} refs/heads/${BRANCH.name}\n`)}0000`);

describe('a branch is brought forward', () => {
  it('by sync_fork where merge-upstream is unknown, which is asked for once', async () => {
    const { asked, repositories } = opened(({ path }) => {
      if (path.endsWith('/git-upload-pack')) return refs();
      return path.endsWith('/merge-upstream') ? unknownRoute() : new Response(null, { status: 204 });
    });
    await repositories.syncBranch(FORK, BRANCH);
    await repositories.syncBranch(FORK, BRANCH);
    expect(asked().filter((call) => !call.endsWith('git-upload-pack'))).toEqual([
      'POST /merge-upstream',
      'POST /sync_fork/release%2F1.0',
      'POST /sync_fork/release%2F1.0',
    ]);
  });

  it('by Git alone where neither is known', async () => {
    const { asked, repositories } = opened(({ path }) =>
      path.endsWith('/git-upload-pack') ? refs() : unknownRoute(),
    );
    await repositories.syncBranch(FORK, BRANCH);
    await repositories.syncBranch(FORK, BRANCH);
    expect(asked().filter((call) => !call.endsWith('git-upload-pack'))).toHaveLength(2);
  });

  it('by Git in the bot’s name, where the repository is public: others are limited by address', async () => {
    const { http, repositories } = opened(({ path, headers, body }) => {
      if (path.endsWith('/mona/hello')) return json(200, answered('mona'));
      if (path.includes('/repos/bot/')) return unknownRoute();
      const isListing = body.includes('ls-refs') || path.startsWith('/bot/');
      if (isListing) return refs('b'.repeat(40));
      return new Response(null, { status: headers.has('Authorization') ? 500 : 429 });
    });
    await repositories.repository(NAME);
    await expect(repositories.syncBranch(FORK, BRANCH)).rejects.toMatchObject({ code: 'unreachable' });
    const fetched = http.asked.find(({ path }) => path === '/mona/hello.git/git-upload-pack');
    expect(fetched?.headers.has('Authorization')).toBe(true);
  });

  it('never while the host asks to be left alone', async () => {
    const { asked, repositories } = opened(() => json(429, {}, { 'Retry-After': '3600' }));
    await expect(repositories.syncBranch(FORK, BRANCH)).rejects.toMatchObject({ code: 'rate-limited' });
    expect(asked()).toHaveLength(1);
  });
});

describe('a fork', () => {
  it('that exists under another name is found by the hint of the conflict', async () => {
    const { repositories } = opened(({ method, path }) => {
      if (path.endsWith('/user')) return user();
      if (method === 'POST') {
        return json(409, {
          message: 'repository is already forked by user [uname: bot, fork path: bot/other]',
        });
      }
      return path.endsWith('/bot/other') ? json(200, answered('bot', 'other')) : json(404, { message: 'no' });
    });
    expect(await repositories.fork(REPOSITORY)).toEqual({ owner: 'bot', name: 'other' });
  });

  it.each([
    ['names the next page', { Link: '<https://host.test/x?page=2>; rel="next"' }],
    ['only counts them', { 'X-Total-Count': '3' }],
  ])(
    'that exists is found among all forks where the conflict says nothing, if the list %s',
    async (_, next) => {
      const { repositories } = opened(({ method, path }) => {
        if (path.endsWith('/user')) return user();
        if (method === 'POST') return json(409, { message: 'conflict' });
        if (path.includes('page=1')) return json(200, [answered('someone')], next);
        if (path.includes('page=2')) return json(200, [answered('bot', 'mine')], next);
        return json(404, { message: 'no' });
      });
      expect(await repositories.fork(REPOSITORY)).toEqual({ owner: 'bot', name: 'mine' });
    },
  );

  it('is not looked for without end in a list that counts more than it shows', async () => {
    const { http, repositories } = opened(({ method, path }) => {
      if (path.endsWith('/user')) return user();
      if (method === 'POST') return json(409, { message: 'conflict' });
      if (path.includes('page=1')) return json(200, [answered('someone')], { 'X-Total-Count': '9' });
      return path.includes('page=') ? json(200, [], { 'X-Total-Count': '9' }) : json(404, { message: 'no' });
    });
    await expect(repositories.fork(REPOSITORY)).rejects.toMatchObject({ code: 'refused' });
    expect(http.asked.filter(({ path }) => path.includes('/forks?'))).toHaveLength(2);
  });

  it('gets the repository’s number where the bot has another repository of that name', async () => {
    const bodies: string[] = [];
    const { repositories } = opened(({ method, path, body }) => {
      if (path.endsWith('/user')) return user();
      if (path.includes('/forks?')) return json(200, []);
      if (method === 'GET') return json(200, answered('bot', 'hello', { id: 1 }));
      bodies.push(body);
      return bodies.length === 1 ? json(409, { message: 'x' }) : json(202, answered('bot', 'hello-7'));
    });
    expect(await repositories.fork(REPOSITORY)).toEqual({ owner: 'bot', name: 'hello-7' });
    expect(bodies.map((body) => JSON.parse(body) as object)).toEqual([
      { name: 'hello' },
      { name: 'hello-7' },
    ]);
  });

  it.each([
    [413, 'quota exceeded', 'quota exceeded (413)'],
    [403, 'user is blocked', 'user is blocked (403)'],
    [409, 'user has reached maximum limit of repositories [limit: 1]', null],
  ])(
    'that is refused with %i says why, to the operator too where it concerns them',
    async (status, message, said) => {
      const { repositories } = opened(({ method, path }) => {
        if (path.endsWith('/user')) return user();
        if (method === 'POST') return json(status, { message });
        return path.includes('/forks?') ? json(200, []) : json(404, { message: 'no' });
      });
      await expect(repositories.fork(REPOSITORY)).rejects.toMatchObject({
        code: 'refused',
        publicMessage: expect.stringContaining(message),
        said,
      });
    },
  );

  it('of another repository is not taken for it', async () => {
    const { repositories } = opened(({ path }) =>
      path.endsWith('/user') ? user() : json(202, answered('bot', 'hello', { id: 1 })),
    );
    await expect(repositories.fork(REPOSITORY)).rejects.toMatchObject({ code: 'refused' });
  });
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

const pull = (number: number, label: string, state: string) => ({
  number,
  html_url: `https://host.test/mona/hello/pulls/${number}`,
  user: { id: 1, login: 'bot' },
  state,
  base: { ref: 'main' },
  head: { label, sha: TIP, repo: null },
});

describe('a pull request is looked for', () => {
  const next = { Link: '<https://host.test/x?page=2>; rel="next"' };

  it('on all pages until an open one is found, else it is the newest', async () => {
    const { asked, repositories } = opened(({ path }) =>
      path.includes('page=1')
        ? json(200, [pull(9, 'anon-1', 'closed'), pull(8, 'anon-2', 'open')], next)
        : json(200, [pull(2, 'anon-1', 'open'), pull(1, 'anon-3', 'closed')]),
    );
    const find = (branch: string) => repositories.findPullRequest(NAME, { fork: FORK, branch });
    expect(await find('anon-1')).toMatchObject({ number: 2 });
    expect(await find('anon-2')).toMatchObject({ number: 8 });
    expect(asked().filter((call) => call.includes('page=2'))).toHaveLength(1);
    expect(await find('anon-3')).toMatchObject({ number: 1, isOpen: false });
    expect(await find('anon-4')).toBeNull();
  });

  /** A repository with three pages, to which pull requests are added. */
  function withPages() {
    const pulls = [6, 5, 4, 3, 2, 1].map((number) => pull(number, `anon-${number}`, 'closed'));
    const host = opened(({ path }) => {
      const page = Number(/page=(\d+)/.exec(path)?.[1]);
      return json(200, pulls.slice(2 * page - 2, 2 * page), pulls.length > 2 * page ? next : {});
    });
    const find = async (branch: string) => {
      const before = host.http.asked.length;
      const found = await host.repositories.findPullRequest(NAME, { fork: FORK, branch });
      return { number: found?.number ?? null, calls: host.http.asked.length - before };
    };
    const open = (number: number) => pulls.unshift(pull(number, `anon-${number}`, 'open'));
    return { find, open, clock: host.clock };
  }

  it('only among newer ones if its branch was on none of the pages a while ago', async () => {
    const { find, open, clock } = withPages();
    expect(await find('anon-a')).toEqual({ number: null, calls: 3 });
    expect(await find('anon-b')).toEqual({ number: null, calls: 1 });
    expect(await find('anon-1')).toEqual({ number: 1, calls: 3 });
    for (const number of [7, 8, 9]) open(number);
    expect(await find('anon-7')).toEqual({ number: 7, calls: 2 });
    expect(await find('anon-b')).toEqual({ number: null, calls: 2 });
    await clock.sleep(10 * 60_000);
    expect(await find('anon-b')).toEqual({ number: null, calls: 5 });
  });

  it('but not for ever: then it is unknown whether there is one, and so it is at once the next time', async () => {
    const { asked, repositories } = opened(() => json(200, [pull(9, 'anon-2', 'open')], next));
    for (const branch of ['anon-1', 'anon-3']) {
      const find = repositories.findPullRequest(NAME, { fork: FORK, branch });
      await expect(find).rejects.toMatchObject({ code: 'unreachable' });
    }
    expect(asked()).toHaveLength(21);
  });
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

describe('a draft is a title', () => {
  it.each([
    ['Mend it', true, 'WIP: Mend it'],
    ['wip: Mend it', true, 'wip: Mend it'],
    ['[WIP] Mend it', true, '[WIP] Mend it'],
    ['WIPE it', true, 'WIP: WIPE it'],
    ['Mend it', false, 'Mend it'],
  ])('%j, draft: %s', async (title, isDraft, sent) => {
    const { http, repositories } = opened(() => json(201, pull(1, 'anon-1', 'open')));
    const request = { head: { fork: FORK, branch: 'anon-1' }, isDraft, base: 'main', title, body: '' };
    await repositories.openPullRequest(NAME, request);
    expect(JSON.parse(http.writes[0]?.body ?? '')).toMatchObject({ title: sent });
  });
});
