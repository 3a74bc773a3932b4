/**
 * A write that fails, in workerd as on Cloudflare: the object is reset with its memory, whoever
 * waits for its answer gets an error, and what was stored before holds. So what is granted is
 * stored first, and nothing opens.
 */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Env } from '../../src/env.ts';
import { forkClaim } from '../../src/limits/claim.ts';
import { isStorageFailure } from '../../src/storage-failure.ts';
import { FakeThreads } from './support/fake-threads.ts';
import { withFailingWrite } from './support/failed-write.ts';
import { Pseudonym } from './support/pseudonym.ts';

const bindings = env as unknown as Env;
const HOUR_MS = 60 * 60_000;
const LIMITS = [{ most: 3, withinMs: HOUR_MS }];
const CREATION = forkClaim('a', null, { creations: LIMITS, openings: [] });

let count = 0;
const name = () => `failed write ${count}`;
const account = () => bindings.HOST_ACCOUNTS.get(bindings.HOST_ACCOUNTS.idFromName(name()));
const guard = () => bindings.GUARD.get(bindings.GUARD.idFromName(name()));

beforeEach(() => {
  count += 1;
  vi.spyOn(console, 'log').mockImplementation(() => {});
});

/** The error of the caller. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('an object whose write fails', () => {
  it('is another one at the next call, with what was stored before, and its callers know why', async () => {
    const marked = (mark: string | null): Promise<unknown> =>
      runInDurableObject(guard(), (instance) => {
        if (mark !== null) Object.assign(instance, { mark });
        return (instance as { mark?: string }).mark;
      });
    await runInDurableObject(guard(), (_, { storage }) => storage.kv.put('panic', false));
    expect(await marked('in memory')).toBe('in memory');
    const failure = await failureOf(withFailingWrite(guard(), (instance) => instance.mayTrack()));
    expect(isStorageFailure(failure)).toBe(true);
    expect(await marked(null)).toBeUndefined();
    const stored = await runInDurableObject(guard(), (_, { storage }) => [...storage.kv.list()]);
    expect(stored).toEqual([['panic', false]]);
  });

  it('fails those that wait beside it, too, and takes calls again at once', async () => {
    const beside = failureOf(
      runInDurableObject(guard(), () => new Promise((resolve) => void setTimeout(resolve, HOUR_MS))),
    );
    await failureOf(withFailingWrite(guard(), (instance) => instance.mayTrack()));
    expect(isStorageFailure(await beside)).toBe(true);
    expect(await guard().status()).toMatchObject({ panicMode: false });
  });
});

it('the account grants nothing that is not stored, however often it is asked', async () => {
  expect(await account().reserve(CREATION)).toMatchObject({ kind: 'granted' });
  for (let time = 0; time < 10; time++) {
    const asked = withFailingWrite(account(), (instance) => instance.reserve(CREATION));
    expect(isStorageFailure(await failureOf(asked))).toBe(true);
  }
  // The one before, and two more.
  const answers = [];
  for (let time = 0; time < 3; time++) answers.push((await account().reserve(CREATION)).kind);
  expect(answers).toEqual(['granted', 'granted', 'denied']);
});

it('the guard does not set a switch that it cannot store, and says so', async () => {
  const password = { kind: 'password' } as const;
  const setting = withFailingWrite(guard(), (instance) => instance.setPanic(true, password));
  expect(isStorageFailure(await failureOf(setting))).toBe(true);
  expect((await guard().status()).panicMode).toBe(false);
  expect(await guard().setPanic(true, password)).toBe(true);
  const lifting = withFailingWrite(guard(), (instance) => instance.setPanic(false, password));
  expect(isStorageFailure(await failureOf(lifting))).toBe(true);
  expect((await guard().status()).panicMode).toBe(true);
});

it('a pseudonym posts nothing whose attempt is not stored', async () => {
  const host = new FakeThreads();
  const someone = new Pseudonym();
  const saying = withFailingWrite(someone.stub, () => someone.say('Hi'));
  expect(isStorageFailure(await failureOf(saying))).toBe(true);
  expect(host.comments).toEqual([]);
  expect(await someone.say('Hi')).toMatchObject({ kind: 'posted', karma: 1 });
});
