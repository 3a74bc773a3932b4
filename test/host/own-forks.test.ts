/** What hosts say of the bot's own forks, before one of them is deleted. */
import { describe, expect, it } from 'vitest';
import type { Repository } from '../../src/host/code-host.ts';
import { ForgejoRepositories } from '../../src/host/forgejo/repositories.ts';
import { GitHubRepositories } from '../../src/host/github/repositories.ts';
import { ACCOUNT } from './support/back-off.ts';
import { json, PatientClock, type Script, ScriptedHost } from './support/scripted-host.ts';

const BOT = { id: 1, login: 'bot' };
const UPSTREAM = { owner: 'mona', name: 'hello', id: 7 } as Repository;
const FORK = { owner: 'bot', name: 'hello-1' };
const CREATED = '2026-10-02T00:00:00Z';
const USED = '2026-10-03T00:00:00Z';

const repository = {
  id: 8,
  name: 'hello-1',
  fork: true,
  owner: BOT,
  parent: { id: 7 },
  created_at: CREATED,
  pushed_at: USED,
  updated_at: USED,
};

function opened(kind: 'forgejo' | 'github', script: Script) {
  const http = new ScriptedHost(script);
  const access = {
    apiUrl: 'https://host.test/api/v1',
    token: 'secret',
    http,
    ...ACCOUNT,
    clock: new PatientClock(),
  };
  const repositories = kind === 'forgejo' ? new ForgejoRepositories(access) : new GitHubRepositories(access);
  return { http, repositories };
}

const issue = (more: object) => ({ user: BOT, pull_request: {}, state: 'open', closed_at: null, ...more });
const closed = (at: string, more: object = {}) => issue({ state: 'closed', closed_at: at, ...more });

describe.each(['forgejo', 'github'] as const)('%s', (kind) => {
  const usedAt = (facts: object) =>
    opened(kind, () => json(200, { ...repository, ...facts })).repositories.forkUsedAt(FORK, UPSTREAM, BOT);

  it('says when a fork was used last', async () => {
    expect(await usedAt({})).toBe(Date.parse(USED));
    // GitHub gives a new fork the date of its upstream's last push.
    expect(await usedAt({ pushed_at: '2020-01-01T00:00:00Z', updated_at: CREATED })).toBe(
      Date.parse(CREATED),
    );
  });

  it.each([
    ['no fork', { fork: false, parent: undefined }],
    ['without a parent', { parent: null }],
    ['a fork of another repository', { parent: { id: 9 } }],
    ['somebody else’s', { owner: { id: 2, login: 'ada' } }],
    ['renamed', { name: 'hello' }],
  ])('knows a repository that is not the fork: %s', async (_, facts) => {
    expect(await usedAt(facts)).toBeNull();
  });

  it('has not said it without dates', async () => {
    const facts = { created_at: 'x' };
    await expect(usedAt(facts)).rejects.toMatchObject({ code: 'unreachable' });
  });

  const lastOpen = (list: unknown) => {
    const { http, repositories } = opened(kind, () => json(200, list));
    return { http, answer: repositories.lastOpenPullRequest(UPSTREAM, BOT) };
  };

  it('says until when a pull request was open, as its lists do', async () => {
    expect(await lastOpen([closed(USED), issue({})]).answer).toBe(Infinity);
    expect(await lastOpen([closed(USED), closed(CREATED)]).answer).toBe(Date.parse(USED));
  });

  it('does not say it with a list that has none of the bot’s', async () => {
    const others = [issue({ user: { id: 2 } }), issue({ user: null }), issue({ pull_request: undefined })];
    expect(await lastOpen([]).answer).toBeNull();
    expect(await lastOpen(others).answer).toBeNull();
    const { http, answer } = lastOpen([...others, closed(CREATED)]);
    expect(await answer).toBe(Date.parse(CREATED));
    const creator = kind === 'github' ? 'creator' : 'created_by';
    expect(http.asked.map(({ path }) => path)).toEqual([expect.stringContaining(`${creator}=bot`)]);
    expect(http.asked.at(-1)?.path).toContain('state=all');
  });

  it.each([
    ['no list', { message: 'x' }],
    ['no date', [closed('')]],
    ['no state', [issue({ state: undefined })]],
  ])('has said nothing with %s', async (_, list) => {
    await expect(lastOpen(list).answer).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('is not asked for ever by a host that sends everybody’s', async () => {
    const next = { Link: '<https://host.test/api/v1/x?page=2>; rel="next"' };
    const { http, repositories } = opened(kind, () => json(200, [issue({ user: { id: 2 } })], next));
    expect(await repositories.lastOpenPullRequest(UPSTREAM, BOT)).toBeNull();
    expect(http.asked.length).toBeLessThan(13);
  });

  it.each([
    [403, 'refused'],
    [404, 'missing'],
    [409, 'refused'],
    [500, 'unreachable'],
    [200, 'unreachable'],
  ])('has not deleted a fork if it answers with %i', async (status, code) => {
    const { repositories } = opened(kind, () =>
      json(status, { message: 'Must have admin rights to Repository.' }),
    );
    await expect(repositories.deleteFork(FORK)).rejects.toMatchObject({ code });
  });
});
