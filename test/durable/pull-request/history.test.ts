/**
 * The history that a pull request's object keeps for its page, and what it makes of the host's
 * words, when.
 */
import { applyD1Migrations, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_EVENTS } from '../../../src/durable/pull-request/history.ts';
import type { Env } from '../../../src/env.ts';
import { closedEvent, type HostEvent } from '../../../src/events/host-event.ts';
import { restartObjects } from '../../support/all-objects.ts';
import { shownPull } from '../support/shown-pull.ts';
import { HttpClient } from '../../../src/outgoing/http-client.ts';

const bindings = env as unknown as Env & { TEST_MIGRATIONS: Parameters<typeof applyD1Migrations>[1] };
/** Ahead of the clock: by itself no alarm goes off within a test. Not a whole second. */
const NOW = Math.floor(Date.now() / 1000) * 1000 + 3_600_999;
const SECOND = 1000;

const urlOf = (number: number): string => `https://host.test/octo/hello/pull/${number}`;

const NO_DATES = { committedAt: 1, commitHashes: new Uint8Array() };

let count = 0;
function newPullRequest(number = 7) {
  const prHash = `41570000${(++count).toString(16).padStart(4, '0')}`;
  // A stub does not outlive the object's death.
  const object = () => bindings.PULL_REQUESTS.get(bindings.PULL_REQUESTS.idFromName(prHash));
  const dates = NO_DATES;
  const pullRequest = {
    prHash,
    host: 'gh',
    owner: 'octo',
    repo: 'hello',
    number,
    url: urlOf(number),
    fork: null,
  };
  return {
    object,
    pullRequest,
    url: urlOf(number),
    comment: (id: number): HostEvent => ({
      key: `comment:${id}`,
      kind: 'commented',
      number,
      url: `${urlOf(number)}#issuecomment-${id}`,
    }),
    closed: (closedAt: string, of = number, kind: 'closed' | 'withdrawn' = 'closed') =>
      closedEvent(of, closedAt, urlOf(of), kind),
    record: (tip: string, at = NOW, as = number) =>
      object().record({ ...pullRequest, number: as, url: urlOf(as) }, { tip, dates, lease: null }, at),
    /** The feed has read the pull request, and hands on all that it found. */
    look: (events: HostEvent[], askedAt: number, at = askedAt) =>
      object().tell('gh', events, at, { number, askedAt }),
    shown: async () => {
      const { state, events } = (await object().view())!;
      return [state, ...events.map(({ kind }) => kind).toReversed()];
    },
  };
}

beforeEach(async () => {
  await applyD1Migrations(bindings.DB, bindings.TEST_MIGRATIONS);
  vi.spyOn(HttpClient.prototype, 'fetch').mockImplementation(
    async (url) => shownPull(url) ?? new Response(null),
  );
});

afterEach(() => vi.restoreAllMocks());

describe('the view of a pull request', () => {
  it('is none before a push is recorded, and being asked for leaves nothing behind', async () => {
    const { object } = newPullRequest();
    expect(await object().view()).toBeNull();
    const left = await runInDurableObject(object(), async (_, { storage }) => [
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'").toArray(),
      await storage.getAlarm(),
    ]);
    expect(left).toEqual([[], null]);
  });

  it('has events with whole seconds, and the same ids after a crash', async () => {
    const { object, record, look, comment, url } = newPullRequest();
    await record('a');
    await look([comment(1)], NOW + SECOND);
    await restartObjects();
    await look([comment(1), { ...comment(2), url: `${url}#${'x'.repeat(10_000)}` }], NOW + 2 * SECOND);
    const at = Math.floor(NOW / 1000);
    const view = await object().view();
    expect(view).toEqual({
      prHash: view?.prHash,
      host: 'gh',
      owner: 'octo',
      repo: 'hello',
      number: 7,
      url,
      fork: null,
      state: 'open',
      isShown: true,
      events: [
        { id: 3, kind: 'commented', url: '', at: at + 2, number: 7 },
        { id: 2, kind: 'commented', url: comment(1).url, at: at + 1, number: 7 },
        { id: 1, kind: 'opened', url, at, number: 7 },
      ],
    });
  });

  it('has events that stay those of the pull request they were about, when another is opened', async () => {
    const { object, pullRequest, look, closed, url } = newPullRequest();
    const record = (number: number, title: string) =>
      object().record(
        { ...pullRequest, number, url, title },
        { tip: title, dates: NO_DATES, lease: null },
        NOW,
      );
    await record(7, 'First');
    await record(8, 'Second');
    // The host tells of the first only now.
    await look([closed('2026-11-01')], NOW + SECOND);
    const events = (await object().view())?.events.map(({ kind, number, title }) => [kind, number, title]);
    expect(events).toEqual([
      ['closed', 7, 'First'],
      ['opened', 8, 'Second'],
      ['opened', 7, 'First'],
    ]);
  });

  it('counts what an update has changed, and nothing for what a push opens', async () => {
    const { object, pullRequest } = newPullRequest();
    const commits = { added: 2, changed: 1, dropped: 0 };
    const record = (tip: string) =>
      object().record(pullRequest, { tip, dates: NO_DATES, lease: null, commits }, NOW);
    await record('a');
    await record('b');
    await restartObjects();
    const events = (await object().view())?.events.map((event) => [event.kind, event.commits]);
    expect(events).toEqual([
      ['updated', commits],
      ['opened', undefined],
    ]);
  });

  it('has events of version 1.0.0 that stay those of their pull request, too', async () => {
    const { object, record } = newPullRequest();
    await record('a');
    await runInDurableObject(object(), (_, { storage }) => {
      const kept = storage.kv.get<{ events: object[] }>('pull-request')!;
      const events = kept.events.map((event) => ({ ...event, number: undefined }));
      storage.kv.put('pull-request', { ...kept, events });
    });
    await restartObjects();
    await record('b', NOW, 8);
    expect((await object().view())?.events.map(({ kind, number }) => [kind, number])).toEqual([
      ['opened', 8],
      ['opened', 7],
    ]);
  });

  it('counts what was said since the last push, for the next one', async () => {
    const { record, look, comment } = newPullRequest();
    expect(await record('a')).toBe(0);
    await look([comment(1), { ...comment(2), key: 'review:2', kind: 'reviewed' }], NOW + SECOND);
    expect(await record('b', NOW + 2 * SECOND)).toBe(2);
    expect(await record('b', NOW + 3 * SECOND)).toBe(0);
    await look([comment(1), comment(3)], NOW + 4 * SECOND);
    expect(await record('c', NOW + 5 * SECOND)).toBe(1);
    await look([comment(4)], NOW + 6 * SECOND);
    // Another pull request, from the same branch.
    expect(await record('d', NOW + 7 * SECOND, 8)).toBe(0);
  });

  it('is written only when something has changed', async () => {
    const { object, record, look, comment } = newPullRequest();
    await record('a');
    await look([comment(1)], NOW + SECOND);
    const written = await runInDurableObject(object(), (_, { storage }) =>
      vi.spyOn(Object.getPrototypeOf(storage.kv) as SyncKvStorage, 'put'),
    );
    await look([comment(1)], NOW + 2 * SECOND);
    expect(written).not.toHaveBeenCalled();
    await look([comment(1), comment(2)], NOW + 3 * SECOND);
    expect(written).toHaveBeenCalledOnce();
  });

  it('is bounded, and comments do not push out the rest', async () => {
    const { record, look, comment, shown, closed } = newPullRequest();
    await record('a');
    await record('b');
    await look([...Array(200).keys()].map(comment), NOW + SECOND);
    expect(await shown()).toEqual(['open', 'opened', 'updated', ...Array(MAX_EVENTS).fill('commented')]);
    for (let push = 0; push < 2 * MAX_EVENTS; push++) await record(`tip ${push}`);
    await look([closed('x')], NOW + SECOND);
    expect((await shown()).length).toBe(1 + 2 * MAX_EVENTS);
    expect((await shown()).at(-1)).toBe('closed');
  });
});

describe('the state of a pull request', () => {
  it('is what a withdrawal makes of it, also after the feed has seen it closed', async () => {
    const { object, record, look, closed, shown } = newPullRequest();
    await record('a');
    await object().tell('gh', [closed('x', 7, 'withdrawn')], NOW + SECOND);
    await look([closed('x')], NOW + 2 * SECOND);
    expect(await shown()).toEqual(['withdrawn', 'opened', 'withdrawn']);
  });

  it('is open again when it was reopened, and closed when it was closed once more', async () => {
    const { record, look, closed, shown } = newPullRequest();
    await record('a');
    await look([closed('x')], NOW + SECOND);
    // Asked before it was closed, answered after.
    await look([], NOW, NOW + 2 * SECOND);
    expect(await shown()).toEqual(['closed', 'opened', 'closed']);
    await look([], NOW + 3 * SECOND);
    await look([], NOW + 4 * SECOND);
    expect(await shown()).toEqual(['open', 'opened', 'closed', 'reopened']);
    await look([closed('y')], NOW + 5 * SECOND);
    expect(await shown()).toEqual(['closed', 'opened', 'closed', 'reopened', 'closed']);
  });

  it('is closed again if the host had said by mistake that it was open', async () => {
    const { record, look, closed, shown } = newPullRequest();
    await record('a');
    await look([closed('x')], NOW + SECOND);
    await look([], NOW + 2 * SECOND);
    await look([closed('x')], NOW + 3 * SECOND);
    expect((await shown())[0]).toBe('closed');
  });

  it('does not follow an earlier pull request from the same branch', async () => {
    const { object, record, look, closed, shown } = newPullRequest();
    await record('a');
    await record('b', NOW + SECOND, 8);
    await look([closed('x')], NOW + 2 * SECOND);
    expect(await shown()).toEqual(['open', 'opened', 'opened', 'closed']);
    await object().tell('gh', [closed('y', 8)], NOW + 3 * SECOND);
    await look([], NOW + 9 * SECOND);
    expect((await shown())[0]).toBe('closed');
  });
});
