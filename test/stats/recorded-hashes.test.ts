/**
 * The list of recorded pull requests: those of one repository, the newest first, without reading
 * the others.
 */
import { applyD1Migrations, type D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { createLogger } from '../../src/log.ts';
import { addWorks, mayBeRecorded, prHashesWith, recordedHashesOf } from '../../src/stats/recorded-hashes.ts';
import { recordHash } from './support/record-hash.ts';
import { timingOutOnly } from '../support/timeouts.ts';
import { exhaustive } from '../support/exhaustive.ts';

const { DB, TEST_MIGRATIONS } = env as unknown as Env & { TEST_MIGRATIONS: D1Migration[] };

beforeAll(() => applyD1Migrations(DB, TEST_MIGRATIONS));

beforeEach(async () => {
  for (const table of ['hashes_by_repository', 'works_by_repository']) {
    await DB.exec(`DELETE FROM ${table}`);
  }
});

it('lists the pull requests of a repository, the newest first, as many as are wanted', async () => {
  for (const [at, hash] of ['a1', 'a2', 'a3'].entries()) await recordHash(DB, hash, 'octo/hello', at);
  await recordHash(DB, 'b1', 'cb/octo/hello', 9);
  await recordHash(DB, 'a1', 'octo/hello', 9);
  expect(await recordedHashesOf(DB, 'Octo/Hello', 2)).toEqual(['a3', 'a2']);
  expect(await recordedHashesOf(DB, 'octo/hello', 9)).toEqual(['a3', 'a2', 'a1']);
  expect(await recordedHashesOf(DB, 'octo/nothing', 9)).toEqual([]);
});

it('is waited for three seconds, and may have anything then', async () => {
  const silent = { prepare: () => ({ bind: () => ({ first: () => new Promise(() => {}) }) }) };
  const waits = timingOutOnly(3_000);
  const logger = createLogger('text', () => {});
  expect(await mayBeRecorded(silent as unknown as D1Database, 'a1', logger)).toBe(true);
  expect(waits).toEqual([3_000]);
  vi.restoreAllMocks();
});

/** Works that are recorded under one hash each. */
const asked = (...works: string[]) => works.map((work) => [work]);

it('reads only what it answers', async () => {
  const { results } = await DB.prepare(
    "EXPLAIN QUERY PLAN SELECT pr_hash FROM works_by_repository WHERE repository = 'a' ORDER BY recorded_at DESC LIMIT 9",
  ).all<{ detail: string }>();
  expect(results.map(({ detail }) => detail)).toEqual([
    'SEARCH works_by_repository USING PRIMARY KEY (repository=?)',
  ]);
});

it('names the pull requests of a repository with the same works, the last work first, and of these the one that got it first', async () => {
  await recordHash(DB, 'a1', 'octo/hello', 1, ['one', 'two']);
  await recordHash(DB, 'a2', 'octo/hello', 2, ['one', 'two', 'three']);
  await recordHash(DB, 'a3', 'octo/hello', 3);
  await recordHash(DB, 'b1', 'cb/octo/hello', 9, ['one']);
  const [a1, a2] = ['a1', 'a2'].map((prHash) => (last: number) => ({ prHash, last }));
  expect(await prHashesWith(DB, 'Octo/Hello', asked('one'))).toEqual([a1!(0), a2!(0)]);
  expect(await prHashesWith(DB, 'octo/hello', asked('one', 'two', 'three'))).toEqual([a2!(2), a1!(1)]);
  expect(await prHashesWith(DB, 'octo/hello', asked('nothing'))).toEqual([]);
  // A commit may be recorded under several hashes, and counts as one.
  const either = [['new', 'one'], ['newer', 'two'], ['three']];
  expect(await prHashesWith(DB, 'octo/hello', either)).toEqual([a2!(2), a1!(1)]);
});

it('an older pull request that copies a work in an update comes after the one that had it', async () => {
  await recordHash(DB, 'mallory', 'octo/hello', 1, ['bait']);
  await recordHash(DB, 'ada', 'octo/hello', 2, ['one']);
  await addWorks(DB, 'ada', ['one', 'two'], 3);
  await addWorks(DB, 'mallory', ['one', 'two'], 4);
  // Sent once more, a copy does not become older, nor the other one newer.
  await addWorks(DB, 'mallory', ['one', 'two'], 1);
  await addWorks(DB, 'ada', ['one', 'two'], 9);
  for (const works of [['one'], ['one', 'two'], ['two', 'three']]) {
    const found = await prHashesWith(DB, 'octo/hello', asked(...works));
    expect(found.map(({ prHash }) => prHash)).toEqual(['ada', 'mallory']);
  }
});

it('adds what updates bring, and keeps the newest', async () => {
  await recordHash(DB, 'a1', 'octo/hello', 1, ['one', 'two']);
  await addWorks(DB, 'a1', ['one', 'three'], 2);
  for (const work of ['one', 'two', 'three']) {
    expect(await prHashesWith(DB, 'octo/hello', asked(work))).toEqual([{ prHash: 'a1', last: 0 }]);
  }
  const many = Array.from({ length: 250 }, (_, number) => `work ${number}`);
  await addWorks(DB, 'a1', many, 3);
  const kept = [];
  for (const work of ['one', 'work 49', 'work 50', 'work 249']) {
    kept.push((await prHashesWith(DB, 'octo/hello', asked(work))).length);
  }
  expect(kept).toEqual([0, 0, 1, 1]);
  await addWorks(DB, 'unknown', ['one'], 4);
});

const works = (of: number): string[] => Array.from({ length: 100 }, (_, number) => `${of} ${number}`);

it('is quick with as many works as there may be', exhaustive, async () => {
  for (let of = 0; of < 250; of++) await recordHash(DB, `a${of}`, 'octo/many', of, works(of));
  // Each of 25,000 is looked up among the hundred, not compared with each of them.
  const { results } = await DB.prepare(
    `EXPLAIN QUERY PLAN WITH asked AS MATERIALIZED (SELECT of_commit.key, hash.value
       FROM json_each('[]') AS of_commit, json_each(of_commit.value) AS hash)
     SELECT 1 FROM (SELECT * FROM works_by_repository WHERE repository = 'a' LIMIT 9) CROSS JOIN json_each(works) AS known
     CROSS JOIN asked ON asked.value = known.value`,
  ).all<{ detail: string }>();
  expect(results.map(({ detail }) => detail).join()).toContain('SEARCH asked USING AUTOMATIC COVERING INDEX');
  expect(await prHashesWith(DB, 'octo/many', asked(...works(7)))).toEqual([{ prHash: 'a7', last: 99 }]);
});

it('has each pull request once, also if it is recorded again later, or elsewhere', async () => {
  await recordHash(DB, 'a1', 'octo/hello', 1, ['work']);
  await recordHash(DB, 'a1', 'octo/hello', 2);
  expect(await recordedHashesOf(DB, 'octo/hello', 9)).toEqual(['a1']);
  await recordHash(DB, 'a1', 'octo/moved', 3);
  expect(await recordedHashesOf(DB, 'octo/hello', 9)).toEqual([]);
  expect(await recordedHashesOf(DB, 'octo/moved', 9)).toEqual(['a1']);
  expect((await prHashesWith(DB, 'octo/moved', asked('work')))[0]?.prHash).toBe('a1');
});
