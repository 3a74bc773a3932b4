/** What the account opens: the places of a client and the repository, all or nothing, and for how long that is kept. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Opening, PlacesOf } from '../../../src/durable/host-account/openings.ts';
import type { Env } from '../../../src/env.ts';
import type { Limit } from '../../../src/limits/sliding-window.ts';
import { restartObjects } from '../../support/all-objects.ts';

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LIMITS: readonly Limit[] = [{ most: 500, withinMs: HOUR_MS }];
const OWN: PlacesOf = { client: 'own', most: 5, whose: 'IP' };
const SITE: PlacesOf = { client: 'site', most: 20, whose: 'IPv6 /48' };
const ROOMY = { key: 'repository', limits: [{ most: 1000, withinMs: HOUR_MS }] };

let count = 0;
function account() {
  return bindings.HOST_ACCOUNTS.get(bindings.HOST_ACCOUNTS.idFromName(`openings-${count}`));
}

function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

beforeEach(() => {
  count += 1;
  pass(0);
});
afterEach(() => vi.useRealTimers());

const opening = (
  key: string,
  of: readonly PlacesOf[] = [OWN],
  target: Opening['target'] = ROOMY,
): Opening => ({
  places: { key, of },
  target,
});

const open = (key: string, of?: readonly PlacesOf[], target?: Opening['target']) =>
  account().admit('client', true, LIMITS, opening(key, of, target));

async function isRefused(key: string, of?: readonly PlacesOf[], target?: Opening['target']) {
  return (await open(key, of, target)).refusal !== null;
}

const stored = () =>
  runInDurableObject(account(), (_, { storage }) =>
    [...storage.kv.list()].map(([key]) => key).filter((key) => key.startsWith('limit ')),
  );
const rows = () => runInDurableObject(account(), (_, { storage }) => [...storage.kv.list()]);
const creationsLeft = async () => (await account().figures(LIMITS)).creationsLeft;

it('a hundred pushes at once get five places, five creations, and one alert', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => open(`${index}`)));
  const refused = answers.map(({ refusal }) => refusal).filter((refusal) => refusal !== null);
  expect(refused).toHaveLength(95);
  const alerts = refused.filter((refusal) => refusal.kind === 'full' && refusal.refusal.isAlertDue);
  expect(alerts).toHaveLength(1);
  expect(await creationsLeft()).toEqual([495]);
});

it('a push that gets no place writes nothing after the alert, takes nothing, and is counted', async () => {
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await open(key);
  const before = await rows();
  for (const attempts of [7, 8]) {
    const { refusal } = await open('g');
    expect(refusal).toMatchObject({ kind: 'full', client: 'own', refusal: { attempts } });
  }
  expect(await rows()).toEqual(before);
});

it('the places of a /48 are left alone by a client that has none of its own left, and the other way round', async () => {
  for (const key of ['a', 'b', 'c', 'd', 'e']) await open(key, [OWN, SITE]);
  expect(await open('f', [OWN, SITE])).toMatchObject({ refusal: { client: 'own' } });
  for (let client = 0; client < 15; client++) {
    expect(await isRefused(`f${client}`, [{ ...OWN, client: `${client}` }, SITE])).toBe(false);
  }
  const other = { ...OWN, client: 'other' };
  expect(await open('g', [other, SITE])).toMatchObject({ refusal: { client: 'site' } });
  for (const key of ['a', 'b', 'c', 'd', 'e']) expect(await isRefused(key, [other])).toBe(false);
});

it('a push that is repeated shares its places, unless it opens another pull request', async () => {
  expect((await open('a', [OWN, SITE])).own).toEqual(['own', 'site']);
  expect((await open('a', [OWN, SITE])).own).toEqual([]);
  for (const key of ['b', 'c', 'd']) await open(key);
  const another = () => account().reservePlaces({ key: 'a', of: [OWN, SITE] }, true);
  expect(await another()).toMatchObject({ kind: 'taken', own: ['own', 'site'], full: [{ client: 'own' }] });
  expect(await another()).toMatchObject({ kind: 'full', client: 'own' });
});

it('what the repository or the account does not take leaves the client its place', async () => {
  const target = { key: 'repository', limits: [{ most: 1, withinMs: HOUR_MS }] };
  expect(await isRefused('a', [OWN], target)).toBe(false);
  pass(20 * MINUTE_MS);
  for (let time = 0; time < 9; time++) {
    const { refusal, taken } = await open(`${time}`, [OWN], target);
    expect([refusal, taken]).toEqual([{ kind: 'target', waitMs: 40 * MINUTE_MS }, null]);
  }
  const none = [{ most: 1, withinMs: HOUR_MS }];
  for (const key of ['b', 'c', 'd', 'e', 'f', 'g']) {
    expect(await account().admit('client', true, none, opening(key))).toMatchObject({
      refusal: null,
      own: [],
    });
  }
  for (const key of ['b', 'c', 'd', 'e']) expect((await open(key)).own).toEqual(['own']);
  expect(await isRefused('f')).toBe(true);
});

it('what was not opened is given back, once, and a place may be taken alone', async () => {
  const target = { key: 'repository', limits: [{ most: 1, withinMs: HOUR_MS }] };
  const few = { ...OWN, most: 1 };
  const { taken, own } = await open('a', [few], target);
  for (let time = 0; time < 2; time++) {
    await account().giveBack(taken, { key: 'a', clients: own, target: 'repository' });
  }
  expect(await creationsLeft()).toEqual([500]);
  expect(await account().reservePlaces({ key: 'b', of: [few] }, false)).toMatchObject({ kind: 'taken' });
  expect(await creationsLeft()).toEqual([500]);
  expect(await isRefused('c', [few], target)).toBe(true);
  await account().giveBack(null, { key: 'b', clients: ['own'], target: null });
  expect(await isRefused('c', [few], target)).toBe(false);
});

it('says whether there is a place, and takes and writes nothing', async () => {
  const few = { ...OWN, most: 2 };
  const wait = (key: string) => account().placesWait({ key, of: [few] });
  expect([await wait('a'), await stored()]).toEqual([null, []]);
  await open('a', [few]);
  pass(10 * MINUTE_MS);
  expect(await wait('b')).toBeNull();
  await open('b', [few]);
  expect(await wait('b')).toBeNull();
  expect(await wait('c')).toEqual({ of: few, waitMs: 50 * MINUTE_MS });
  // The attempts that were refused: none.
  expect(await open('c', [few])).toMatchObject({ refusal: { refusal: { attempts: 3 } } });
});

it('is remembered across a restart for an hour, or as long as the repository’s limit says, and leaves nothing', async () => {
  const target = { key: 'repository', limits: [{ most: 1, withinMs: 3 * HOUR_MS }] };
  await open('a', [{ ...OWN, most: 1 }], target);
  await restartObjects();
  expect(await isRefused('b', [{ ...OWN, most: 1 }])).toBe(true);
  pass(HOUR_MS);
  expect(await isRefused('b', [{ ...OWN, most: 1 }], target)).toBe(true);
  expect(await runDurableObjectAlarm(account())).toBe(true);
  expect(await stored()).toEqual(['limit repository target']);
  pass(2 * HOUR_MS);
  expect(await runDurableObjectAlarm(account())).toBe(true);
  expect(await stored()).toEqual([]);
  expect(await runInDurableObject(account(), (_, { storage }) => storage.getAlarm())).toBeNull();
});

it('the hourly cleaning keeps what is no client’s', async () => {
  await account().pauseHost(3 * HOUR_MS);
  await open('a');
  pass(2 * HOUR_MS);
  expect(await runDurableObjectAlarm(account())).toBe(true);
  await restartObjects();
  expect(await account().hostPause()).toBe(HOUR_MS);
});
