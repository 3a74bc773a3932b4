/** Pushes with the real Git (contract, 2.7, 2.10, 3.3, 4.5, 4.6, 6). */
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useCodeHost } from './support/code-host.ts';
import { ADA, type Clone, fromAddress, type GitResult, Workplace } from './support/git.ts';
import { bannerOf } from './support/hand-push.ts';
import { CLIENT_HEADER, send } from './support/http.ts';
import { BOT, BOT_TOKEN, type Recorded, type Thread, touch } from './support/records.ts';
import { useService } from './support/service.ts';

const ANON_EMAIL = 'nobody@anonymous.example';

const host = useCodeHost();
const service = useService(() => (port) => ({
  ...host.variables,
  ANON_EMAIL,
  SERVICE_URL: `http://127.0.0.1:${port}`,
  CLIENT_IP_HEADER: CLIENT_HEADER,
}));
const place = new Workplace();
afterAll(() => place.remove());

let people = 0;
const remote = (repository = 'octo/hello'): string => `${service.url}/v1/gh/${repository}`;

/** A clone of somebody with an address of their own. */
async function newClone(repository?: string, options: readonly string[] = []): Promise<Clone> {
  return place.clone(remote(repository), fromAddress(CLIENT_HEADER, `192.0.2.${++people}`), options);
}

async function accepted(
  clone: Clone,
  ...args: string[]
): Promise<GitResult & { prHash: string; prUrl: string }> {
  const result = await clone.git('push', ...args);
  expect(result.code, result.stderr).toBe(0);
  const banner = bannerOf(result.remote);
  expect(banner.prHash, result.stderr).toMatch(/^\S+$/);
  return { ...result, ...banner };
}

const threads = (repository = 'octo/hello'): readonly Thread[] =>
  host.repositories.get(repository)?.threads ?? [];
const pullOf = (prHash: string, repository?: string): Thread | undefined =>
  threads(repository).findLast(({ pull }) => pull?.head === `anon-${prHash}`);

/**
 * Shows the commits that a branch of the fork has and upstream's main has not, the oldest first.
 */
async function published(prHash: string, format: string): Promise<string[]> {
  const main = await host.tip('octo', 'hello', 'main');
  const range = [`refs/heads/anon-${prHash}`, `^${main}`];
  const log = await host.git(BOT, 'hello', 'log', '--reverse', '-z', `--format=${format}`, ...range);
  return log.split('\0').filter(Boolean);
}

function ownCommits(clone: Clone, format: string): Promise<string> {
  return clone.must('log', '--reverse', '-z', `--format=${format}`, 'my-change', '^origin/main');
}

beforeAll(async () => {
  await host.createRepository('octo', 'hello');
});

describe('a push of two commits', () => {
  let clone: Clone;
  let result: GitResult & { prHash: string; prUrl: string };
  let before: number;
  let after: number;
  const requests: Recorded[] = [];

  beforeAll(async () => {
    clone = await newClone();
    await clone.must('switch', '--quiet', '--create', 'my-change');
    await clone.commit('Say hello\n\nTo everybody.\n\nAnd twice.', { 'hello.txt': 'hello\n' });
    await clone.commit('Wave, too\n\nIt is friendlier,\nas said in the issue.', { 'wave.txt': 'wave\n' });
    before = Math.floor(Date.now() / 1000);
    const known = host.requests.length;
    result = await accepted(clone, 'origin', 'my-change');
    after = Math.ceil(Date.now() / 1000);
    requests.push(...host.requests.slice(known));
  });

  it('ends with a banner of all that its author needs later', () => {
    const { prHash, prUrl, remote: lines } = result;
    expect(prUrl).toBe(`${host.url}/octo/hello/pull/${pullOf(prHash)?.number}`);
    const banner = lines.slice(lines.findIndex((line) => line.includes(prUrl)));
    const text = banner.join('\n');
    expect(text).toMatch(new RegExp(`^\\s*Author:\\s+${BOT}$`, 'm'));
    expect(text).toMatch(new RegExp(`^\\s*Branch:\\s+anon-${prHash}$`, 'm'));
    expect(text).toContain(`${host.notifyUrl}/anon-pr-${prHash}`);
    expect(text).toMatch(new RegExp(`^\\s*git push .*-o pr-hash=${prHash}\\b`, 'm'));
  });

  it('is accepted for the branch that was pushed', () => {
    expect(result.stderr).toMatch(/^ \* \[new branch\]\s+my-change -> my-change$/m);
  });

  it('forks the repository under the bot account, with its token', () => {
    const forks = requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/forks'));
    expect(forks.map(({ path }) => path)).toEqual(['/api/repos/octo/hello/forks']);
    const [pushed, ...more] = requests.filter(
      ({ method, path }) => method === 'POST' && path.endsWith('/git-receive-pack'),
    );
    expect(more).toEqual([]);
    expect(pushed?.path).toMatch(new RegExp(`^/${BOT}/hello(\\.git)?/git-receive-pack$`));
    expect(pushed?.headers['authorization']).toBe(`Basic ${btoa(`x-access-token:${BOT_TOKEN}`)}`);
  });

  it('opens a pull request from the branch of the fork', () => {
    const opened = requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/pulls'));
    expect(opened.map(({ path, body }) => [path, JSON.parse(body.toString()) as object])).toEqual([
      [
        '/api/repos/octo/hello/pulls',
        expect.objectContaining({
          head: `${BOT}:anon-${result.prHash}`,
          base: 'main',
          title: 'Wave, too',
          body: 'It is friendlier,\nas said in the issue.',
        }),
      ],
    ]);
  });

  it('writes every new commit as the bot, now, in UTC', async () => {
    const facts = await published(result.prHash, '%an|%ae|%cn|%ce|%ad|%cd');
    // `--date` is the default: the zone is that of the commit.
    expect(facts).toHaveLength(2);
    for (const fact of facts) {
      const [an, ae, cn, ce, authored = '', committed = ''] = fact.split('|');
      expect([an, ae, cn, ce]).toEqual([BOT, ANON_EMAIL, BOT, ANON_EMAIL]);
      for (const date of [authored, committed]) {
        expect(date).toMatch(/ \+0000$/);
        expect(Date.parse(date) / 1000).toBeGreaterThanOrEqual(before);
        expect(Date.parse(date) / 1000).toBeLessThanOrEqual(after);
      }
    }
  });

  it('keeps message, tree and parents, under new ids', async () => {
    const main = await host.tip('octo', 'hello', 'main');
    expect((await published(result.prHash, '%T|%B')).join('\0')).toBe(
      (await ownCommits(clone, '%T|%B')).replace(/\0$/, ''),
    );
    const ids = await published(result.prHash, '%H');
    expect(await published(result.prHash, '%P')).toEqual([main, ids[0]]);
    const ownIds = (await ownCommits(clone, '%H')).split('\0');
    expect(ids.filter((id) => ownIds.includes(id))).toEqual([]);
  });

  it('tells the host nothing of its author', () => {
    expect(requests.length).toBeGreaterThan(0);
    for (const { path, headers, body } of requests) {
      const text = `${path}\n${JSON.stringify(headers)}\n${body.toString('latin1')}`;
      for (const word of [ADA.name, ADA.address, '192.0.2.']) expect(text).not.toContain(word);
    }
  });

  it('is told on the topic of the pull request', async () => {
    await expect.poll(() => host.messagesOn(`anon-pr-${result.prHash}`).length).toBeGreaterThan(0);
    expect(JSON.stringify(host.messagesOn(`anon-pr-${result.prHash}`))).not.toContain(ADA.name);
  });

  it('with its hash, updates the pull request', async () => {
    const { prHash, prUrl } = result;
    const told = host.messagesOn(`anon-pr-${prHash}`).length;
    const count = threads().length;
    await clone.commit('A third commit', { 'third.txt': '3\n' });
    const updated = await accepted(clone, '-o', `pr-hash=${prHash}`, 'origin', 'my-change');
    expect(updated).toMatchObject({ prHash, prUrl });
    expect(threads()).toHaveLength(count);
    expect(await published(prHash, '%s')).toEqual(['Say hello', 'Wave, too', 'A third commit']);
    await expect.poll(() => host.messagesOn(`anon-pr-${prHash}`).length).toBeGreaterThan(told);
  });

  it('with its hash, may also rewrite what was pushed', async () => {
    const { prHash, prUrl } = result;
    await clone.must('reset', '--quiet', '--hard', 'origin/main');
    await clone.commit('Another idea', { 'other.txt': 'x\n' });
    const updated = await accepted(clone, '--force', '-o', `pr-hash=${prHash}`, 'origin', 'my-change');
    expect(updated).toMatchObject({ prHash, prUrl });
    expect(await published(prHash, '%s')).toEqual(['Another idea']);
  });

  it('with its hash, opens another one when the first is closed', async () => {
    const { prHash } = result;
    const first = pullOf(prHash) as Thread;
    touch(first, { state: 'closed' });
    const count = threads().length;
    await clone.commit('Once more', { 'again.txt': 'x\n' });
    const again = await accepted(clone, '--force', '-o', `pr-hash=${prHash}`, 'origin', 'my-change');
    expect(threads()).toHaveLength(count + 1);
    expect(pullOf(again.prHash)).toMatchObject({ state: 'open', title: 'Once more' });
    expect(again.prUrl).not.toBe(result.prUrl);
    expect(first.state).toBe('closed');
  });
});

describe('a push', () => {
  it('to main is accepted for main', async () => {
    const clone = await newClone();
    await clone.commit('On main itself', { 'main.txt': 'x\n' });
    const { prHash, stderr } = await accepted(clone, 'origin', 'main');
    expect(stderr).toMatch(/main -> main$/m);
    expect(pullOf(prHash)?.pull).toMatchObject({ head: `anon-${prHash}`, base: 'main' });
    expect(pullOf(prHash)).toMatchObject({ title: 'On main itself', body: '' });
  });

  it('needs no account: nothing asks for one', async () => {
    for (const name of ['git-receive-pack', 'git-upload-pack']) {
      const answer = await send(`${remote()}/info/refs?service=${name}`);
      expect(answer.status).toBe(200);
      expect(answer.headers['www-authenticate'] ?? '').not.toMatch(/basic|bearer|digest/i);
    }
  });

  it('from a shallow clone is accepted', async () => {
    const clone = await newClone(undefined, ['--depth=1']);
    await clone.must('switch', '--quiet', '--create', 'shallow');
    await clone.commit('From a shallow clone', { 'shallow.txt': 'x\n' });
    const { prHash } = await accepted(clone, 'origin', 'shallow');
    expect(await published(prHash, '%s')).toEqual(['From a shallow clone']);
  });

  it('of more than a megabyte, which Git announces by a probe, is accepted', async () => {
    const clone = await newClone();
    await clone.must('switch', '--quiet', '--create', 'large');
    await clone.commit('A large file', { 'large.txt': randomBytes(1_000_000).toString('hex') });
    const { prHash } = await accepted(clone, 'origin', 'large');
    expect(await published(prHash, '%s')).toEqual(['A large file']);
  });

  it('with a merge keeps what upstream has, by its ids', async () => {
    const clone = await newClone();
    await clone.must('switch', '--quiet', '--create', 'merged');
    await clone.commit('My own', { 'own.txt': 'x\n' });
    const upstream = await host.grow('octo', 'hello', 'main', 'News upstream', { 'news.txt': 'n\n' });
    await clone.must('fetch', '--quiet');
    await clone.must('merge', '--quiet', '-m', 'Take in the news', 'origin/main');
    const { prHash } = await accepted(clone, 'origin', 'merged');
    const [own = ''] = await published(prHash, '%H');
    expect(await published(prHash, '%s|%P')).toEqual([
      expect.stringMatching(/^My own\|[0-9a-f]{40}$/),
      `Take in the news|${own} ${upstream}`,
    ]);
  });

  it('from a repository whose commit upstream has moved on is based on that commit', async () => {
    const clone = await newClone();
    const boundary = await host.tip('octo', 'hello', 'main');
    await host.grow('octo', 'hello', 'main', 'More news', { 'more.txt': 'n\n' });
    await clone.must('switch', '--quiet', '--create', 'behind');
    await clone.commit('Behind upstream', { 'old.txt': 'x\n' });
    const { prHash } = await accepted(clone, 'origin', 'behind');
    expect(await published(prHash, '%s|%P')).toEqual([`Behind upstream|${boundary}`]);
  });

  it.each(['contributor', 'developer'])('of somebody whose name is %s is accepted', async (name) => {
    const clone = await newClone();
    await clone.must('switch', '--quiet', '--create', `by-${name}`);
    const files = { [`${name}.md`]: `A ${name} reads this file first.\n` };
    await clone.commit(`Welcome every ${name}`, files, { name, address: `${name}@home.example` });
    const { prHash } = await accepted(clone, 'origin', `by-${name}`);
    expect(await published(prHash, '%s')).toEqual([`Welcome every ${name}`]);
  });

  it('leaves the clone as it was', async () => {
    const clone = await newClone();
    await clone.must('switch', '--quiet', '--create', 'kept');
    const id = await clone.commit('Mine', { 'mine.txt': 'x\n' });
    await accepted(clone, 'origin', 'kept');
    expect((await clone.must('rev-parse', 'HEAD')).trim()).toBe(id);
    expect(readFileSync(join(clone.path, 'mine.txt'), 'utf8')).toBe('x\n');
  });
});
