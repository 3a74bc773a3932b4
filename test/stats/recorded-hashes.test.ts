/** The list of recorded pull requests: those of one repository, the newest first, without reading the others. */
import { applyD1Migrations, type D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { createLogger } from '../../src/log.ts';
import { mayBeRecorded, prHashWith, recordedHashesOf } from '../../src/stats/recorded-hashes.ts';
import { recordHash } from './support/record-hash.ts';
import { timingOutOnly } from '../support/timeouts.ts';

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

it('reads only what it answers', async () => {
  const { results } = await DB.prepare(
    "EXPLAIN QUERY PLAN SELECT pr_hash FROM works_by_repository WHERE repository = 'a' ORDER BY recorded_at DESC LIMIT 9",
  ).all<{ detail: string }>();
  expect(results.map(({ detail }) => detail)).toEqual([
    'SEARCH works_by_repository USING PRIMARY KEY (repository=?)',
  ]);
});

it('names the newest pull request of a repository with the same work', async () => {
  await recordHash(DB, 'a1', 'octo/hello', 1, 'work');
  await recordHash(DB, 'a2', 'octo/hello', 2, 'other');
  await recordHash(DB, 'a3', 'octo/hello', 3);
  await recordHash(DB, 'b1', 'cb/octo/hello', 9, 'work');
  expect(await prHashWith(DB, 'Octo/Hello', ['work'])).toEqual({ prHash: 'a1', work: 'work' });
  await recordHash(DB, 'a4', 'octo/hello', 4, 'work');
  expect(await prHashWith(DB, 'octo/hello', ['work'])).toEqual({ prHash: 'a4', work: 'work' });
  // The last commit of a push counts before the others.
  expect(await prHashWith(DB, 'octo/hello', ['work', 'other'])).toEqual({ prHash: 'a2', work: 'other' });
  expect(await prHashWith(DB, 'octo/hello', ['nothing'])).toBeNull();
});

it('has each pull request once, also if it is recorded again later, or elsewhere', async () => {
  await recordHash(DB, 'a1', 'octo/hello', 1, 'work');
  await recordHash(DB, 'a1', 'octo/hello', 2);
  expect(await recordedHashesOf(DB, 'octo/hello', 9)).toEqual(['a1']);
  await recordHash(DB, 'a1', 'octo/moved', 3);
  expect(await recordedHashesOf(DB, 'octo/hello', 9)).toEqual([]);
  expect(await recordedHashesOf(DB, 'octo/moved', 9)).toEqual(['a1']);
  expect((await prHashWith(DB, 'octo/moved', ['work']))?.prHash).toBe('a1');
});
