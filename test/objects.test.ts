import { expect, it } from 'vitest';
import { clientWindowsOf, guardOf, pendingPushOf, readFrom, spoolOf } from '../src/objects.ts';

/** Remembers by which name and with what an object was asked for. */
function namespace() {
  const asked: unknown[] = [];
  const objects = {
    idFromName: (name: string) => name,
    get: (name: string, options: object) => void asked.push([name, options]),
  };
  return { asked, objects: objects as unknown as DurableObjectNamespace<Rpc.DurableObjectBranded> };
}

/** The names of the objects of so many hashes. */
function namesOf(
  open: (objects: DurableObjectNamespace<Rpc.DurableObjectBranded>, hash: string) => unknown,
): Set<unknown> {
  const { asked, objects } = namespace();
  for (let value = 0; value < 0x1000; value++) open(objects, value.toString(16).padStart(3, '0').repeat(21));
  return new Set(asked.map((call) => (call as [string])[0]));
}

it('names 64 objects for the windows of all clients, and one on one machine', () => {
  expect(namesOf((CLIENT_WINDOWS, hash) => clientWindowsOf({ CLIENT_WINDOWS }, hash)).size).toBe(64);
  const here = { ONE_MACHINE: 'true' };
  expect(namesOf((CLIENT_WINDOWS, hash) => clientWindowsOf({ CLIENT_WINDOWS, ...here }, hash)).size).toBe(1);
  expect(namesOf((PENDING_PUSHES, hash) => pendingPushOf({ PENDING_PUSHES, ...here }, hash)).size).toBe(1);
  expect(namesOf((SPOOL, attempt) => spoolOf({ SPOOL, ...here }, attempt)).size).toBe(1);
  expect(namesOf((SPOOL, attempt) => spoolOf({ SPOOL }, attempt)).size).toBe(0x1000);
});

it('asks for an object with the hint that is configured', () => {
  const { asked, objects } = namespace();
  guardOf({ GUARD: objects, LOCATION_HINT: 'weur' });
  guardOf({ GUARD: objects, LOCATION_HINT: '' });
  guardOf({ GUARD: objects });
  expect(asked).toEqual([
    ['guard', { locationHint: 'weur' }],
    ['guard', {}],
    ['guard', {}],
  ]);
});

it.each([
  [{ retryable: true }, 2],
  [{ retryable: true, overloaded: true }, 1],
  [{}, 1],
])('a read that fails with %j is made %i times', async (flags, times) => {
  let reads = 0;
  const read = () => {
    reads += 1;
    return Promise.reject(Object.assign(new Error('moved'), flags));
  };
  await expect(readFrom(read)).rejects.toThrow('moved');
  expect(reads).toBe(times);
  expect(await readFrom(async () => 'read')).toBe('read');
});
