/**
 * The tables of D1, as versions write and read them that were there before several code hosts, or before there were
 * fewer rows: such a one runs until the new one is up, and comes back if that one is taken back.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { D1Ledger } from '../../src/stats/d1-ledger.ts';
import { askAsEarlier, recordAsEarlier } from './support/earlier-version.ts';
import { pullRequestEntry } from './support/ledger-behaviour.ts';
import { isListed } from '../../src/stats/listed-pseudonyms.ts';
import { isRecorded, prHashWith, recordedHashesOf } from '../../src/stats/recorded-hashes.ts';
import { recordHash } from './support/record-hash.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const { DB } = bindings;
const FIRST_NEW_MIGRATION = '0005_hosts.sql';

const BEFORE_FORKS = '0010_forks.sql';
const BEFORE_WORKS = '0012_works_by_repository.sql';
const BEFORE_FEWER_ROWS = '0009_fewer_rows.sql';

const OLD_HASH = 'INSERT INTO recorded_hashes VALUES (?) ON CONFLICT DO NOTHING';
const OLD_REPORTED = 'INSERT INTO reported_pseudonyms VALUES (?) ON CONFLICT DO NOTHING';
const OLD_KARMA =
  'INSERT INTO karma (hash, karma) VALUES (?, 1) ON CONFLICT (hash) DO UPDATE SET karma = excluded.karma';

it('what it writes is found, and what was there before stays', async () => {
  const earlier = bindings.TEST_MIGRATIONS.filter(({ name }) => name < FIRST_NEW_MIGRATION);
  await applyD1Migrations(DB, earlier);
  await DB.exec("INSERT INTO recorded_hashes VALUES ('aaaaaaaa'), ('bbbbbbbb')");
  await applyD1Migrations(DB, bindings.TEST_MIGRATIONS);

  for (let time = 0; time < 2; time++) {
    await DB.prepare(OLD_HASH).bind('cccccccc').run();
    await DB.prepare(OLD_REPORTED).bind('dddddddd').run();
    await DB.prepare(OLD_KARMA).bind('eeeeeeee').run();
  }
  await recordHash(DB, 'bbbbbbbb', 'Octo/Hello', 2);
  await recordHash(DB, 'bbbbbbbb', 'Octo/Hello', 9);
  for (const hash of ['aaaaaaaa', 'bbbbbbbb', 'cccccccc']) expect(await isRecorded(DB, hash)).toBe(true);
  expect(await recordedHashesOf(DB, 'OCTO/hello', 9)).toEqual(['bbbbbbbb']);
  expect([await isListed(DB, 'dddddddd'), await isListed(DB, 'eeeeeeee')]).toEqual([true, true]);
});

it('a fork is listed with the first pull request of its repository, whoever records that', async () => {
  await applyD1Migrations(DB, bindings.TEST_MIGRATIONS);
  const AS_EARLIER = 'INSERT INTO hashes_by_repository VALUES (?, ?, ?)';
  await DB.prepare(AS_EARLIER).bind('0f0f0f01', 'octo/forked', 5).run();
  await DB.prepare(AS_EARLIER).bind('0f0f0f02', 'Octo/Forked', 7).run();
  await DB.prepare(AS_EARLIER).bind('0f0f0f03', 'cb/octo/forked', 6).run();
  const forks = async () =>
    (await DB.prepare("SELECT * FROM forks WHERE repository LIKE '%forked' ORDER BY used_at").all()).results;
  const [here, there] = [
    { repository: 'octo/forked', host: 'gh', used_at: 5 },
    { repository: 'cb/octo/forked', host: 'cb', used_at: 6 },
  ];
  expect(await forks()).toEqual([here, there]);
  await DB.exec('DELETE FROM forks');
  await recordHash(DB, '0f0f0f01', 'octo/forked', 9);
  expect(await forks()).toEqual([here]);
});

it('forks of the pull requests that were there are listed', async () => {
  for (const statement of ['DROP TRIGGER list_fork', 'DROP TRIGGER list_fork_again', 'DROP TABLE forks']) {
    await DB.exec(statement);
  }
  await DB.exec(`DELETE FROM d1_migrations WHERE name = '${BEFORE_FORKS}'`);
  await applyD1Migrations(DB, bindings.TEST_MIGRATIONS);
  const { results } = await DB.prepare(
    "SELECT * FROM forks WHERE repository LIKE '%forked' ORDER BY host",
  ).all();
  expect(results).toEqual([
    { repository: 'cb/octo/forked', host: 'cb', used_at: 6 },
    { repository: expect.stringMatching(/^octo\/forked$/i) as string, host: 'gh', used_at: 7 },
  ]);
});

it('works that were there are found, and those that an earlier version records have a page', async () => {
  for (const statement of ['DROP TABLE works_by_repository', 'DROP TRIGGER list_by_repository'])
    await DB.exec(statement);
  for (const trigger of ['move_to_repository', 'note_work']) await DB.exec(`DROP TRIGGER ${trigger}`);
  await DB.exec(
    'CREATE INDEX newest_hashes_of_a_repository ON hashes_by_repository (repository, recorded_at)',
  );
  await DB.exec('DELETE FROM hashes_by_repository');
  await DB.exec(`DELETE FROM d1_migrations WHERE name = '${BEFORE_WORKS}'`);
  const recordAsBefore = async (prHash: string, at: number, work: string) => {
    await DB.prepare('INSERT INTO hashes_by_repository VALUES (?, ?, ?)').bind(prHash, 'octo/old', at).run();
    await DB.prepare('INSERT INTO works VALUES (?, ?)').bind(work, prHash).run();
  };
  await recordAsBefore('0f0f0f11', 5, 'work');
  await applyD1Migrations(DB, bindings.TEST_MIGRATIONS);
  await recordAsBefore('0f0f0f12', 6, 'other');
  expect(await recordedHashesOf(DB, 'octo/old', 9)).toEqual(['0f0f0f12', '0f0f0f11']);
  expect(await prHashWith(DB, 'octo/old', 'work')).toBe('0f0f0f11');
  expect(await prHashWith(DB, 'octo/old', 'other')).toBe('0f0f0f12');
});

it('pull requests that were there stay, and the version before goes on counting them', async () => {
  for (const table of ['totals', 'repository_totals']) await DB.exec(`DROP VIEW IF EXISTS ${table}`);
  const { results: tables } = await DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
  ).all<{ name: string }>();
  for (const { name } of tables) await DB.exec(`DROP TABLE ${name}`);
  await applyD1Migrations(
    DB,
    bindings.TEST_MIGRATIONS.filter(({ name }) => name < BEFORE_FEWER_ROWS),
  );
  const [first, late, second] = [
    pullRequestEntry(1, '2026-11-02T10:00:00.000Z'),
    pullRequestEntry(2, '2026-11-01T10:00:00.000Z', 'Hello'),
    { ...pullRequestEntry(3, '2026-11-03T10:00:00.000Z'), host: 'cb' },
  ];
  for (const entry of [first, second, late, first]) await recordAsEarlier(DB, entry);
  const before = await askAsEarlier(DB, 'OCTO', 'hello');
  expect(before).toEqual([
    { pullRequests: 3, lastCreatedAt: second.createdAt },
    [
      { id: 2, ...second },
      { id: 1, ...first },
      { id: 3, ...late },
    ],
    2,
  ]);

  await applyD1Migrations(DB, bindings.TEST_MIGRATIONS);
  expect(await askAsEarlier(DB, 'OCTO', 'hello')).toEqual(before);
  expect(await askAsEarlier(DB, 'cb/octo', 'hello')).toMatchObject({ 2: 1 });
  const ledger = new D1Ledger(DB);
  expect([await ledger.totals(), await ledger.recentPullRequests(10)]).toEqual(before.slice(0, 2));
  await ledger.recordPullRequest(first);
  await recordAsEarlier(DB, late);
  expect(await ledger.totals()).toEqual(before[0]);
  await recordAsEarlier(DB, pullRequestEntry(4, '2026-11-04T10:00:00.000Z'));
  await ledger.recordPullRequest(pullRequestEntry(5, '2026-11-05T10:00:00.000Z'));
  expect(await ledger.totals()).toEqual({ pullRequests: 5, lastCreatedAt: '2026-11-05T10:00:00.000Z' });
  expect((await ledger.recentPullRequests(2)).map(({ id }) => id)).toEqual([5, 4]);
  expect(await ledger.pullRequestCount({ host: 'gh', owner: 'octo', repo: 'hello' })).toBe(4);
});
