/**
 * The tables of D1, as the version writes them that was there before several code hosts: it runs until the new one is up,
 * and comes back if that one is taken back.
 */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { isListed } from '../../src/stats/listed-pseudonyms.ts';
import { isRecorded, recordedHashesOf, recordHash } from '../../src/stats/recorded-hashes.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
const { DB } = bindings;
const FIRST_NEW_MIGRATION = '0005_hosts.sql';

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
