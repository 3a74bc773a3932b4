/** Which forks are deleted, where what the host and the records say is rare or contradicts itself. */
import { applyD1Migrations, type D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { deleteOldForks, type OldForks } from '../../src/forks/old-forks.ts';
import type { PullRequest, Repository, RepositoryHost } from '../../src/host/code-host.ts';
import { HostError } from '../../src/host-error.ts';
import { fullName, type RepositoryName } from '../../src/repository-name.ts';
import { recordHash } from '../stats/support/record-hash.ts';

const { DB, TEST_MIGRATIONS } = env as unknown as Env & { TEST_MIGRATIONS: D1Migration[] };
const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-11-22T12:00:00Z');
const LONG_AGO = NOW - 40 * DAY_MS;
const BOT = { id: 1, login: 'bot' };
const HASH = 'aaaaaaaa0001';

/** What the host says; by default, that a fork is old. */
interface Said {
  branches: string[];
  /** Of the list of the fork's branches. */
  list: { headTip: string | null; hasAllBranches: boolean };
  /** By repository. */
  lastOpen: Record<string, number | null>;
  usedAt: number | null;
  pullRequest: PullRequest | null;
  isPushedTo: boolean;
  /** The repository of these names is missing, or fails. */
  missing: string[];
  failing: string[];
  refuses: HostError['code'] | null;
}

let said: Said;
let asked: string[];

const pullRequest = (fork: RepositoryName | null, isOpen = false): PullRequest => ({
  number: 7,
  url: 'https://host.test/octo/hello/pull/7',
  isOpen,
  base: 'main',
  branch: 'anon-0123456789ab',
  fork,
});

function settings(hostKey = 'gh'): OldForks {
  const host: Partial<RepositoryHost> = {
    account: async () => BOT,
    async repository(name) {
      asked.push(`look up ${fullName(name)}`);
      if (said.failing.includes(fullName(name))) throw new HostError('unreachable', 'no answer');
      if (said.missing.includes(fullName(name))) throw new HostError('missing', 'none');
      return { ...name, id: 8 } as Repository;
    },
    findPullRequest: async () => said.pullRequest,
    async lastOpenPullRequest(name) {
      asked.push(`open in ${fullName(name)}`);
      if (said.missing.includes(fullName(name))) throw new HostError('missing', 'none');
      const at = said.lastOpen[fullName(name)];
      return at === undefined ? LONG_AGO : at;
    },
    forkUsedAt: async () => said.usedAt,
    async deleteFork(fork) {
      asked.push(`delete ${fullName(fork)}`);
      if (said.refuses !== null) throw new HostError(said.refuses, 'no');
    },
  };
  const refs = said.branches.map((name) => ({ name: `refs/heads/${name}`, oid: 'a'.repeat(40) }));
  return {
    db: DB,
    hostKey,
    host: host as RepositoryHost,
    transport: { listRefs: async () => ({ refs, ...said.list }) as never },
    lifeMs: 30 * DAY_MS,
    isPushedTo: async () => said.isPushedTo,
  };
}

beforeAll(() => applyD1Migrations(DB, TEST_MIGRATIONS));

beforeEach(async () => {
  for (const table of ['hashes_by_repository', 'works_by_repository', 'forks']) {
    await DB.exec(`DELETE FROM ${table}`);
  }
  await recordHash(DB, HASH, 'octo/hello', LONG_AGO);
  asked = [];
  said = {
    branches: [`anon-${HASH}`],
    list: { headTip: 'a'.repeat(40), hasAllBranches: true },
    lastOpen: {},
    usedAt: LONG_AGO,
    pullRequest: pullRequest({ owner: 'bot', name: 'hello-1' }),
    isPushedTo: false,
    missing: [],
    failing: [],
    refuses: null,
  };
});

const listed = async () =>
  (await DB.prepare('SELECT repository, used_at AS usedAt FROM forks ORDER BY repository').all()).results;
const isDeleted = async () => (await deleteOldForks(settings(), NOW)).of.length === 1;

it('a fork that nobody has used for long is deleted, and off the list', async () => {
  expect(await deleteOldForks(settings(), NOW)).toEqual({
    of: [{ owner: 'octo', name: 'hello', id: 8 }],
    refusal: null,
  });
  expect(asked.at(-1)).toBe('delete bot/hello-1');
  expect(await listed()).toEqual([]);
});

it('is off the list if the answer to an earlier attempt to delete it was lost', async () => {
  said.refuses = 'missing';
  said.missing.push('bot/hello-1');
  expect(await deleteOldForks(settings(), NOW)).toMatchObject({ of: [{ name: 'hello' }], refusal: null });
  expect(await listed()).toEqual([]);
});

const used = (usedAt: number) => [{ repository: 'octo/hello', usedAt }];

describe('it stays on the list', () => {
  it.each<[string, number, () => unknown]>([
    ['if its pull request is open', NOW, () => (said.pullRequest = pullRequest(null, true))],
    ['if another one is', NOW, () => (said.lastOpen['octo/hello'] = Infinity)],
    ['if one was open lately', NOW - DAY_MS, () => (said.lastOpen['octo/hello'] = NOW - DAY_MS)],
    ['if the host shows none of its pull requests', NOW, () => (said.lastOpen['octo/hello'] = null)],
    ['if the host shows it without a commit', NOW, () => (said.list.headTip = null)],
    ['if it has more branches than can be read', NOW, () => (said.list.hasAllBranches = false)],
    ['if it was pushed to lately', NOW - DAY_MS, () => (said.usedAt = NOW - DAY_MS)],
    ['if somebody is pushing', NOW, () => (said.isPushedTo = true)],
    ['if nothing is known of a branch', NOW, () => said.branches.push('anon-bbbbbbbb')],
    ['if the host does not show upstream', NOW, () => said.missing.push('octo/hello')],
  ])('%s', async (_, usedAt, change) => {
    change();
    expect(await isDeleted()).toBe(false);
    expect(await listed()).toEqual(used(usedAt));
    expect(asked.filter((call) => call.startsWith('delete'))).toEqual([]);
    asked = [];
    expect(await isDeleted()).toBe(false);
    expect(asked).toEqual([]);
  });

  it('if the records know a newer pull request, and the host is not asked', async () => {
    await recordHash(DB, 'cccccccc', 'Octo/Hello', NOW - DAY_MS);
    expect(await isDeleted()).toBe(false);
    expect(await listed()).toEqual(used(NOW - DAY_MS));
    expect(asked).toEqual([]);
  });

  it.each(['refused', 'missing'] as const)('for a day if the host does not delete it: %s', async (code) => {
    said.refuses = code;
    expect(await deleteOldForks(settings(), NOW)).toMatchObject({ of: [], refusal: { code } });
    expect(await listed()).toEqual(used(NOW - 29 * DAY_MS));
  });

  it('behind the others if the host does not delete it', async () => {
    said.refuses = 'refused';
    await deleteOldForks(settings(), NOW);
    said.refuses = null;
    await recordHash(DB, 'cccccccc', 'octo/other', LONG_AGO + DAY_MS);
    asked = [];
    await deleteOldForks(settings(), NOW);
    expect(lookUps()).toEqual(['look up octo/other']);
  });

  it('for a day if the host fails', async () => {
    said.failing.push('octo/hello');
    await expect(isDeleted()).rejects.toMatchObject({ code: 'unreachable' });
    said.failing = [];
    expect(await isDeleted()).toBe(false);
    expect((await deleteOldForks(settings(), NOW + DAY_MS)).of).toHaveLength(1);
  });
});

describe('it is off the list, and not deleted', () => {
  it.each<[string, () => unknown]>([
    ['if it is another repository', () => (said.usedAt = null)],
    ['if it is gone', () => (said.pullRequest = pullRequest(null))],
    ['if nothing is known of its pull request', () => (said.pullRequest = null)],
  ])('%s', async (_, change) => {
    change();
    expect(await isDeleted()).toBe(false);
    expect(await listed()).toEqual([]);
    expect(asked.filter((call) => call.startsWith('delete'))).toEqual([]);
  });
});

it('a fork that all repositories of a network share stays for the pull requests of each', async () => {
  await recordHash(DB, 'dddddddd', 'mona/hello', LONG_AGO);
  await DB.exec("DELETE FROM forks WHERE repository = 'mona/hello'");
  said.branches.push('anon-dddddddd');
  said.lastOpen['mona/hello'] = Infinity;
  expect(await isDeleted()).toBe(false);
  expect(asked).toContain('open in mona/hello');
  said.lastOpen = {};
  said.missing = ['mona/hello'];
  expect((await deleteOldForks(settings(), NOW + 31 * DAY_MS)).of).toEqual([]);
  said.missing = [];
  expect((await deleteOldForks(settings(), NOW + 62 * DAY_MS)).of).toHaveLength(1);
});

const lookUps = () => asked.splice(0).filter((call) => call.startsWith('look up'));

it('a run looks at three of one host, the longest unused first', async () => {
  const names = [1, 2, 3, 4].map((count) => `octo/hello${count}`);
  for (const [index, name] of names.entries())
    await recordHash(DB, `eeeeeeee${index}`, name, LONG_AGO - 9 + index);
  await recordHash(DB, 'ffffffff', 'cb/octo/other', LONG_AGO - 99);
  said.lastOpen = Object.fromEntries(names.map((name) => [name, Infinity]));
  said.branches = [];
  await deleteOldForks(settings(), NOW);
  expect(lookUps().toSorted()).toEqual(names.slice(0, 3).map((name) => `look up ${name}`));
  await deleteOldForks(settings('cb'), NOW);
  expect(lookUps()).toEqual(['look up octo/other']);
});

/** That recording a pull request of one repository writes. */
const rows = async (prHash: string) => {
  const statement = DB.prepare('INSERT INTO hashes_by_repository VALUES (?, ?, ?)');
  return (await statement.bind(prHash, 'octo/new', NOW).run()).meta.rows_written;
};

it('costs a repository’s first pull request two rows more, and those after it none', async () => {
  const first = await rows('aaaaaaa1');
  expect(first - (await rows('aaaaaaa2'))).toBe(2);
});
