/**
 * Today's service goes on with what 1.0.0 had left when it was killed: state-1.0.0/README.md. If a
 * test fails here, today's code does not read a stored form of 1.0.0. Make it read that form, too;
 * do not make the archive again.
 */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { NtfyMessage } from '../../sandbox/records.ts';
import { Contributor } from './state-1.0.0/contributor.ts';
import { facts } from './state-1.0.0/facts.ts';
import { EarlierState } from './support/earlier-state.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { gitIn } from './support/objects.ts';
import { bannerOf, remoteLines, statusTable } from './support/push-output.ts';

const ARCHIVE = join(import.meta.dirname, 'state-1.0.0/state.tar.gz');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const REPOSITORY = '/v1/gh/octo/hello';
const COMMENTS = `${REPOSITORY}/issues/1/comments/anonymous`;

let state: EarlierState;

/**
 * Starts a copy of the state for the tests of a block.
 * @param afterMs how long the service had not run.
 */
function startAfter(afterMs: number): void {
  beforeAll(async () => {
    const started = await EarlierState.start(ARCHIVE, facts, afterMs);
    state = started;
    return () => started.stop();
  });
}

const ada = () => new Contributor(state.people, 'ada', '198.51.100.101');
const ben = () => new Contributor(state.people, 'ben', '198.51.100.102');
const cyd = () => new Contributor(state.people, 'cyd', '198.51.100.103');
const dot = () => new Contributor(state.people, 'dot', '198.51.100.104');

function push(person: Contributor, branch: string, ...options: string[]) {
  return person.push(state.service.url + REPOSITORY, branch, ...options);
}

interface JsonAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function call(
  path: string,
  payload?: object,
  headers: Record<string, string> = {},
): Promise<JsonAnswer> {
  const response = await fetch(state.service.url + path, {
    ...(payload && { method: 'POST', body: JSON.stringify(payload) }),
    headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
  });
  return { status: response.status, body: await response.json<JsonAnswer['body']>() };
}

async function textOf(path: string): Promise<string> {
  const response = await fetch(state.service.url + path, { headers: { Accept: 'text/plain' } });
  return response.text();
}

async function messages(topic: string): Promise<string[]> {
  const response = await fetch(`${state.sandbox.notifyUrl}/${topic}/json?poll=1`);
  const lines = (await response.text()).split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as NtfyMessage).message);
}

interface Pull {
  readonly number: number;
  readonly state: string;
  readonly html_url: string;
  readonly head: { readonly ref: string; readonly sha: string };
}

async function pullsOf({ prHash }: { readonly prHash: string }): Promise<Pull[]> {
  const url = `${state.sandbox.apiUrl}/repos/octo/hello/pulls?state=all&per_page=100`;
  const pulls = await (await fetch(url)).json<Pull[]>();
  return pulls.filter(({ head }) => head.ref === `anon-${prHash}`);
}

async function commentTexts(): Promise<string[]> {
  const response = await fetch(`${state.sandbox.apiUrl}/repos/octo/hello/issues/1/comments`);
  return (await response.json<{ body: string }[]>()).map(({ body }) => body);
}

/** The addresses of all pull requests in the statistics, which show up to ten. */
async function counted(): Promise<string[]> {
  const { body } = await call('/api/recent-prs');
  const { prs, total } = body as { prs: { pr_url: string }[]; total: number };
  expect(prs).toHaveLength(total);
  return prs.map(({ pr_url: url }) => url);
}

const isPanic = async () => (await call('/api/status')).body['panic_mode'];
const setPanicOff = (credential: object) => call('/admin/panic', { ...credential, active: false });

describe('a minute later', () => {
  startAfter(MINUTE_MS);

  it('pushes are still suspended, and the button that was not pressed yet ends that', async () => {
    expect(await isPanic()).toBe(true);
    expect(remoteLines(await push(cyd(), facts.cutBefore.branch))).toContain('SERVICE TEMPORARILY SUSPENDED');
    expect(await call('/admin/panic', { token: facts.usedToken, active: true })).toMatchObject({
      status: 401,
    });
    const switchedOff = await setPanicOff({ token: facts.unusedToken });
    // For the tests behind, which are about something else.
    if (switchedOff.status !== 200) await setPanicOff({ password: facts.panicPassword });
    expect(switchedOff).toEqual({ status: 200, body: { panic_mode: false, state: 'deactivated' } });
  });

  it('what the notification service has not taken is delivered', async () => {
    const { flagged, blocked, updated, adminTopic } = facts;
    await expect
      .poll(async () => (await messages(adminTopic)).map((message) => message.split(' after ')[0]))
      .toEqual(
        expect.arrayContaining([`anon-${flagged.hash} is flagged`, `anon-${blocked.hash} is blocked`]),
      );
    await expect
      .poll(() => messages(`anon-pr-${updated.prHash}`))
      .toContainEqual(expect.stringContaining('was updated'));
  });

  it('a push that waits still has its page; the same push again waits by itself', async () => {
    const { name, branch, page } = facts.waiting;
    expect((await textOf(`/v1/delayed/${name}`)).split('\n').slice(0, page.length)).toEqual(page);
    // 1.0.0 kept a hash that somebody who guesses a commit's id could make. Nothing is found by it
    // any more.
    const again = await push(ben(), branch, 'delay=1h');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain('/v1/delayed/');
    expect(again.stderr).not.toContain(name);
  });

  it('the page of a pull request has its title, and its events once', async () => {
    await state.service.runScheduled(state.now());
    const page = await textOf(`/v1/pr/${facts.updated.prHash}`);
    expect(page).toContain('The first change');
    // The conversation shows the comment.
    expect(page.match(/Updated with new commits|New comment|Opened/g)).toEqual([
      'Opened',
      'Updated with new commits',
    ]);
  });

  it('a pull request is updated by its hash, and its earlier commits keep their ids', async () => {
    const { branch, prHash } = facts.updated;
    const [before] = await pullsOf(facts.updated);
    await ada().commit(branch, 'Still more');
    const pushed = await push(ada(), branch, `pr-hash=${prHash}`);
    expect(pushed.code, pushed.stderr).toBe(0);
    const [after] = await pullsOf(facts.updated);
    expect(after).toMatchObject({ number: facts.updated.number, state: 'open' });
    expect(after!.head.sha).not.toBe(before!.head.sha);
    const fork = state.sandbox.repositoryPath(facts.botLogin, 'hello');
    expect(await gitIn(fork, 'rev-parse', `${after!.head.sha}^`)).toBe(before!.head.sha);
  });

  it('a pull request is withdrawn by its key', async () => {
    const { branch, prHash, prKey } = facts.withdrawn;
    const pushed = await push(ada(), branch, 'withdraw', `pr-hash=${prHash}`, `pr-key=${prKey}`);
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await pullsOf(facts.withdrawn)).toMatchObject([{ state: 'closed' }]);
  });

  it('who has opened five within the hour opens no sixth', async () => {
    const pushed = await push(ada(), 'sixth');
    expect(statusTable(pushed)[0], pushed.stderr).toContain('rate limit exceeded');
  });

  it('pushes that were cut off and are made again open pull requests of their own', async () => {
    for (const [person, cut] of [
      [cyd(), facts.cutBefore],
      [dot(), facts.cutAfter],
    ] as const) {
      const pushed = await push(person, cut.branch);
      expect(pushed.code, pushed.stderr).toBe(0);
      const { prHash, prUrl } = bannerOf(pushed);
      expect(prHash).not.toBe(cut.prHash);
      await expect.poll(counted).toContain(prUrl);
    }
    expect((await counted()).length).toBeGreaterThanOrEqual(facts.totalPrs + 2);
  });

  it('authors keep pseudonym and karma, whether or not the ledger knew of it', async () => {
    const { user_token: token, ...rest } = facts.once.answer;
    for (const { token: sent, ...known } of [facts.author, { token, ...rest }]) {
      const { body } = await call(COMMENTS, { body: 'Me again', user_token: sent });
      expect(body).toMatchObject({ hash: known.hash, karma: known.karma + 1 });
    }
  });

  it('a comment that is sent again with its Idempotency-Key gets its first answer', async () => {
    const { key, body, answer } = facts.once;
    const before = await commentTexts();
    expect((await call(COMMENTS, { body }, { 'Idempotency-Key': key })).body).toEqual(answer);
    expect(await commentTexts()).toEqual(before);
  });

  it('a blocked pseudonym stays blocked', async () => {
    const answer = await call(COMMENTS, { body: 'Buy', user_token: facts.blocked.token });
    expect(answer).toEqual({ status: 403, body: { error: 'hash bloqueado por reportes' } });
  });

  it('a flagged pseudonym has its pause, and gets its karma back when it is pardoned', async () => {
    const { token, hash, karma } = facts.flagged;
    const post = () => call(COMMENTS, { body: 'Sorry', user_token: token });
    const standing = await call(`/v1/moderation/report?hash=${hash}`);
    expect(standing.body).toEqual({ hash, reports: 3, state: 'flagged' });
    expect(await post()).toEqual({ status: 429, body: { error: 'cooldown activo por reportes' } });
    const footers = async () => (await commentTexts()).filter((text) => text.includes(hash));
    for (const text of await footers()) expect(text).toContain('karma (0)');
    await call('/admin/pardon', { password: facts.panicPassword, hash });
    await expect.poll(async () => (await footers()).at(-1)).toContain(`karma (${karma})`);
    expect((await post()).body).toMatchObject({ hash, karma: karma + 1 });
  });

  it('a rollback closes what was opened before', async () => {
    const { body } = await call('/admin/rollback', { password: facts.panicPassword });
    const url = `${state.sandbox.url}/octo/hello/pull/${facts.updated.number}`;
    expect(body['closed_urls']).toContain(url);
    expect(await pullsOf(facts.updated)).toMatchObject([{ state: 'closed' }]);
  });
});

describe('seven hours later', () => {
  startAfter(7 * HOUR_MS);

  it('pushes are still suspended, and the password ends that', async () => {
    expect(await isPanic()).toBe(true);
    expect(await setPanicOff({ token: facts.unusedToken })).toMatchObject({ status: 401 });
    expect(await setPanicOff({ password: facts.panicPassword })).toMatchObject({ status: 200 });
  });

  it('the push that has waited is published by the schedule, and its page has hash and key', async () => {
    const path = `/v1/delayed/${facts.waiting.name}`;
    let run = state.now();
    await expect
      .poll(async () => {
        await state.service.runScheduled((run += 2 * MINUTE_MS));
        return textOf(path);
      })
      .toMatch(/^Published\n/);
    const page = await textOf(path);
    const [, prHash = ''] = /^PR hash: +(\w+)$/m.exec(page) ?? [];
    const [, key = ''] = /^PR key: +(\w+)$/m.exec(page) ?? [];
    expect(await pullsOf({ prHash }), page).toMatchObject([{ state: 'open' }]);
    await push(ben(), facts.waiting.branch, 'withdraw', `pr-hash=${prHash}`, `pr-key=${key}`);
    expect(await pullsOf({ prHash }), page).toMatchObject([{ state: 'closed' }]);
  });

  it('commits of an open pull request are known again, as 1.0.0 has recorded them', async () => {
    const [pull] = await pullsOf(facts.updated);
    const previewed = await push(ada(), facts.updated.branch, 'preview');
    expect(remoteLines(previewed)[0], previewed.stderr).toMatch(/SECOND pull request\. Your \d commits are/);
    expect(previewed.stderr).toContain(pull!.html_url);
  });

  it('pushes that nobody has pushed again are cleared up', async () => {
    const { cutBefore, cutAfter } = facts;
    await expect.poll(() => textOf(`/v1/pr/${cutAfter.prHash}`)).toContain('octo/hello #');
    const branch = `${state.sandbox.apiUrl}/repos/${facts.botLogin}/hello/branches/anon-${cutBefore.prHash}`;
    await expect.poll(async () => (await fetch(branch)).status).toBe(404);
    expect(await pullsOf(cutBefore)).toEqual([]);
    const [pull] = await pullsOf(cutAfter);
    await expect.poll(counted).toContain(pull!.html_url);
  });

  it('who had opened five may open another one', async () => {
    const pushed = await push(ada(), 'sixth');
    expect(pushed.code, pushed.stderr).toBe(0);
  });

  it('maintainers are heard on a thread of before, and what is new is refused then', exhaustive, async () => {
    const { number } = facts.updated;
    // Where only exhaustive tests run, nobody has switched it off before.
    await setPanicOff({ password: facts.panicPassword });
    state.sandbox.maintainer.comment({ owner: 'octo', repo: 'hello', number }, `@${facts.botLogin} stop`);
    const run = state.now() + HOUR_MS;
    await state.service.runScheduled(run);
    await state.service.runScheduled(run + 2 * MINUTE_MS);
    const pushed = await push(ben(), facts.waiting.branch);
    expect(remoteLines(pushed).join(), pushed.stderr).toContain('have said stop');
    state.sandbox.maintainer.comment({ owner: 'octo', repo: 'hello', number }, `@${facts.botLogin} welcome`);
    await state.service.runScheduled(run + 4 * MINUTE_MS);
    expect((await call(COMMENTS, { body: 'Welcome' })).status).toBe(200);
  });

  it('a flagged pseudonym may comment once more, with no karma', async () => {
    const { token, hash } = facts.flagged;
    const post = () => call(COMMENTS, { body: 'Sorry', user_token: token });
    expect((await post()).body).toMatchObject({ hash, karma: 0 });
    expect(await post()).toMatchObject({ status: 429 });
  });
});
