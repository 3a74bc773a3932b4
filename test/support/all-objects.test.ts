/**
 * Keeps one test file from failing another: in a slow run objects sleep, and `reset` alone passes
 * over them.
 */
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import type { Env } from '../../src/env.ts';
import { clientWindowsOf } from '../../src/objects.ts';
import { deleteObjects, restartObjects } from './all-objects.ts';
import { calledObjects } from './called-objects.ts';

const bindings = env as unknown as Env;

const mayPush = async () => {
  const { waitMs } = await clientWindowsOf(bindings, 'c').hit('c', 'pushes', [{ most: 1, withinMs: 60_000 }]);
  return waitMs === 0;
};

it('objects that are not running are deleted, as are rows and values', async () => {
  expect(await mayPush()).toBe(true);
  await bindings.LAST_KNOWN.put('name', 'value');
  await bindings.DB.exec('CREATE TABLE kept (a)');
  await restartObjects();
  await deleteObjects(Date.now());
  expect(await mayPush()).toBe(true);
  expect(await bindings.LAST_KNOWN.get('name')).toBeNull();
  await bindings.DB.exec('CREATE TABLE kept (a)');
});

it('objects are known by their first call, whoever makes it, until they are deleted', async () => {
  await deleteObjects(Date.now());
  expect(calledObjects()).toEqual([]);
  await mayPush();
  await bindings.GUARD.getByName('guard').status();
  const called = new Set(calledObjects().map(({ objects }) => objects as unknown));
  expect([...called]).toEqual(expect.arrayContaining([bindings.CLIENT_WINDOWS, bindings.GUARD]));
  expect(called.size).toBe(2);
  await deleteObjects(Date.now());
  expect(calledObjects()).toEqual([]);
});
