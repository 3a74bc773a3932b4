/** Which pull request has which commits. */
import { applyD1Migrations, type D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { prHashOf, recordWork } from '../../src/stats/works.ts';

const { DB, TEST_MIGRATIONS } = env as unknown as Env & { TEST_MIGRATIONS: D1Migration[] };

beforeAll(() => applyD1Migrations(DB, TEST_MIGRATIONS));

it('names the newest pull request with the same commits', async () => {
  await recordWork(DB, 'work', 'a1');
  await recordWork(DB, 'other', 'b1');
  expect(await prHashOf(DB, 'work')).toBe('a1');
  await recordWork(DB, 'work', 'a2');
  expect(await prHashOf(DB, 'work')).toBe('a2');
  expect(await prHashOf(DB, 'nothing')).toBeNull();
});
