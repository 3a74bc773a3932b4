/**
 * docs/storage.md has every table, column and namespace that there is, and no other. That it has
 * every key, too, each test in workerd sees when it ends: test/support/leave-nothing.ts.
 */
import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, inject, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { delayedPushesOf, feedOf, guardOf, identityOf, pullRequestOf, spoolOf } from '../../src/objects.ts';
import { documented, lacksOf } from '../support/storage-document.ts';
import { type Stored, storedByObjects, storedInDatabase } from '../support/stored.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const PULL_REQUEST = {
  prHash: 'abcdef123456',
  host: 'gh',
  owner: 'octo',
  repo: 'hello',
  number: 1,
  url: 'https://host.test/octo/hello/pull/1',
  fork: null,
};

/** Calls every object that has tables. Some make them when there is something to store. */
async function makeTables(): Promise<void> {
  const inTurn = [guardOf(bindings), delayedPushesOf(bindings), feedOf(bindings, 'gh')];
  for (const object of inTurn) await runInDurableObject(object, () => {});
  await identityOf(bindings, 'ab000001').report('reporter', 'site');
  await spoolOf(bindings, 'attempt').write('attempt', 0, new ArrayBuffer(1));
  const pullRequest = pullRequestOf(bindings, PULL_REQUEST.prHash);
  await feedOf(bindings, 'gh').noteInstalled({ key: 'gh', app: 17 }, { owner: 'octo', name: 'hello' }, 5);
  const dates = { committedAt: 1_800_000_000, commitHashes: new Uint8Array() };
  const later = Date.now() + 60 * 60 * 1000;
  await pullRequest.record(PULL_REQUEST, { tip: 'a', dates, lease: null }, later);
  await pullRequest.tell('gh', [{ key: 'comment:1', kind: 'commented', number: 1, url: '' }], later);
}

const isTable = ({ kind }: Stored): boolean => kind !== 'key';
const nameOf = ({ place, kind, name }: Stored): string => `${place}: ${kind} ${name}`;

it('has every table and column', async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  await makeTables();
  const stored = [...(await storedByObjects()), ...(await storedInDatabase(bindings.DB))];
  const rows = documented();
  expect(lacksOf(stored, rows)).toEqual([]);
  const tables = new Set(stored.filter(isTable).map(nameOf));
  const gone = rows.filter((row) => isTable(row) && !tables.has(nameOf(row)));
  expect(gone.map((row) => `docs/storage.md: take out the item of ${nameOf(row)}`)).toEqual([]);
});

it('has every namespace', () => {
  const bound = Object.entries(env).flatMap(([name, binding]) => {
    const kind = (binding as object).constructor.name;
    return kind === 'KvNamespace' ? [name] : [];
  });
  const places = new Set(documented().map(({ place }) => place));
  expect(bound.filter((name) => !places.has(name))).toEqual([]);
});

it('says of every section whether what it stores has changed since 1.0.0', () => {
  const [, changes = ''] = inject('storageDocument').split(/^## Changes since 1\.0\.0$/m);
  const places = new Set(documented().map(({ place }) => place));
  const missing = [...places].filter((place) => !new RegExp(String.raw`\b${place}\b`).test(changes));
  expect(missing.map((place) => `docs/storage.md, section Changes: name ${place}`)).toEqual([]);
  const [changed = '', unchanged = ''] = changes.split('\nAs in 1.0.0:');
  const both = [...places].filter((place) =>
    [changed, unchanged].every((text) => new RegExp(String.raw`\b${place}\b`).test(text)),
  );
  expect(both.map((place) => `docs/storage.md, last line: leave out ${place}, which changed`)).toEqual([]);
});

it('says what to write', () => {
  const row: Stored = { place: 'Guard', kind: 'table', name: 'alerts', columns: ['id'] };
  const key: Stored = { place: 'Guard', kind: 'key', name: 'post <hash>', columns: [] };
  expect(lacksOf([row, { ...key, name: 'post 12ab' }], [row, key])).toEqual([]);
  const push: Stored = { place: 'PendingPush', kind: 'key', name: '<push>', columns: [] };
  const attempts: Stored = { place: 'ClientWindows', kind: 'key', name: '<client> <action>', columns: [] };
  const known = [
    { ...push, name: 'a1'.repeat(32) },
    { ...attempts, name: 'b comments' },
  ];
  const others = [
    { ...push, name: 'pause' },
    { ...attempts, name: 'b visits' },
    { ...attempts, name: 'b seen at' },
  ];
  expect(lacksOf(known, [push, attempts])).toEqual([]);
  expect(lacksOf(others, [push, attempts])).toHaveLength(3);
  expect(lacksOf([{ ...row, columns: ['id', 'at'] }], [row])).toEqual([
    'docs/storage.md, section Guard: the table `alerts` has these columns: `id`, `at`.',
  ]);
  expect(lacksOf([{ ...key, name: 'pause' }], [row, key])).toEqual([
    'docs/storage.md, section Guard: the key `pause` has no item. Add one that says what it holds, and when it goes.',
  ]);
});
