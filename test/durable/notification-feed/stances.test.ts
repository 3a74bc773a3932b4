/** Words of maintainers as the feed hears and keeps them, by the repository's number. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SqlStances } from '../../../src/durable/notification-feed/stances.ts';
import type { Env } from '../../../src/env.ts';
import { WHOLE } from '../../../src/events/hear.ts';
import type { Repository } from '../../../src/host/code-host.ts';
import { API, BOT, FakeActivity } from '../support/fake-activity.ts';

const bindings = env as unknown as Env;
const NAME = { owner: 'octo', name: 'hello' };
const NOTHING = { stoppedAt: null, muted: [] };
const MINUTE_MS = 60_000;

let count = 0;
beforeEach(() => void (count += 1));

function feed() {
  return bindings.NOTIFICATION_FEED.get(bindings.NOTIFICATION_FEED.idFromName(`words-${count}`));
}

function withStances<T>(use: (stances: SqlStances) => T): Promise<T> {
  return runInDurableObject(feed(), (_, state) => use(new SqlStances(state.storage.sql)));
}

const repository = (id: number, name = NAME): Repository => ({
  ...name,
  id,
  networkId: id,
  isPrivate: false,
  isArchived: false,
  pullRequests: 'all',
  sizeKb: 1,
});
const stop = (at: number) => ({ word: 'stop', at, saidBy: 2, since: 1 }) as const;

describe('what was said', () => {
  it('is found by the name in any case, and by the number after a rename', async () => {
    const renamed = { owner: 'octo', name: 'moved' };
    await withStances((stances) => stances.setStance(repository(7), WHOLE, stop(5)));
    expect(await feed().said({ owner: 'Octo', name: 'Hello' }, null)).toMatchObject({ stoppedAt: 5 });
    expect(await feed().said(renamed, null)).toMatchObject({ ...NOTHING, isAny: true });
    expect(await feed().said(renamed, 7)).toMatchObject({ stoppedAt: 5 });
    // The new name was learned with the number.
    expect(await feed().said(renamed, null)).toMatchObject({ stoppedAt: 5 });
    expect(await feed().stopped(10)).toEqual([{ name: 'octo/moved', at: 5 }]);
  });

  it('is not said of another repository that got the name', async () => {
    await withStances((stances) => stances.setStance(repository(7), WHOLE, stop(5)));
    expect(await feed().said(NAME, 8)).toMatchObject(NOTHING);
    expect(await feed().said(NAME, null)).toMatchObject(NOTHING);
  });

  it('is over after welcome, and mutes a thread only', async () => {
    await withStances((stances) => {
      stances.setStance(repository(7), WHOLE, stop(5));
      stances.setStance(repository(7), WHOLE, { word: 'welcome', at: 6, saidBy: 2, since: 1 });
      stances.setStance(repository(7), 3, { word: 'mute', at: 7, saidBy: 2, since: 1 });
    });
    expect(await feed().said(NAME, 7)).toMatchObject({ stoppedAt: null, muted: [{ thread: 3, at: 7 }] });
    expect(await feed().stopped(10)).toEqual([]);
  });
});

describe('a word', () => {
  it('of a bot, or of an app in the name of a person, counts for nothing', async () => {
    const host = new FakeActivity();
    const pull = Object.assign(host.pull(1, 'main'), { author: 'eve' });
    const said = { author: 'mona', association: 'MEMBER', text: `@${BOT} stop` };
    pull.comments.push({ id: 1, ...said, program: 'bot' });
    pull.comments.push({ id: 2, ...said, program: 'app' });
    const variables = { ...bindings, HOSTING_API_URL: API, HOSTING_TOKEN: 'secret' };
    await runInDurableObject(feed(), (instance) => void Object.assign(instance, { env: variables }));
    const run = (minute: number) => feed().run('gh', Date.now() + minute * MINUTE_MS);
    for (const minute of [1, 2]) expect(await run(minute)).toEqual([]);
    expect(host.requests.some(({ path }) => path.includes('/comments'))).toBe(true);
    pull.updatedAt += 1_000;
    pull.comments.push({ id: 3, ...said });
    expect(await run(3)).toMatchObject([NAME]);
  });

  it('is heard behind 2,500 comments that came at once, a thousand a minute, in few calls', async () => {
    const host = new FakeActivity();
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const prHash = `ab${count.toString(16).padStart(10, '0')}`;
    const pull = host.pull(1, `anon-${prHash}`);
    const url = host.urlOf(pull);
    const object = bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));
    const record = { prHash, host: 'gh', owner: 'octo', repo: 'hello', number: 1, url, fork: null };
    const dates = { committedAt: 1_800_000_000, commitHashes: new Uint8Array() };
    await object.record(record, { tip: 'a', dates, lease: null }, Date.now());
    await runDurableObjectAlarm(object);
    const from = pull.updatedAt - MINUTE_MS;
    for (let id = 1; id <= 2_500; id++) pull.comments.push({ id, author: 'eve', at: from + id * 20 });
    const text = `@${BOT} stop`;
    pull.comments.push({ id: 2_501, author: 'mona', association: 'MEMBER', text, at: pull.updatedAt });
    const variables = { ...bindings, HOSTING_API_URL: API, HOSTING_TOKEN: 'secret' };
    await runInDurableObject(feed(), (instance) => void Object.assign(instance, { env: variables }));
    const stopped: unknown[] = [];
    for (let minute = 1; minute <= 3; minute++) {
      host.requests.length = 0;
      stopped.push(...(await feed().run('gh', Date.now() + minute * MINUTE_MS)));
      expect(host.requests.length).toBeLessThan(20);
    }
    expect(stopped).toMatchObject([NAME]);
    expect(await feed().said(NAME, 7)).toMatchObject({ stoppedAt: expect.any(Number) });
    expect(host.requests.filter(({ path }) => path.endsWith('/2501/reactions'))).toHaveLength(1);
  });
});
