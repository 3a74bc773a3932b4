import { describe, expect, it } from 'vitest';
import { eventsOf, ownPrHash } from '../../src/events/host-event.ts';
import { commentText } from '../../src/text/footer.ts';
import type { PullRequestState } from '../../src/host/code-host.ts';

const BOT = 1;
const OWN = new Set([BOT]);
const MONA = 2;
const PULL = 'https://host.test/octo/hello/pull/7';

function activity(changes: Partial<PullRequestState> = {}): PullRequestState {
  return {
    number: 7,
    url: PULL,
    authorId: BOT,
    branch: 'anon-0123456789ab',
    mergedAt: null,
    closedAt: null,
    ...changes,
  };
}

function remark(key: string, at: string, authorId: number | null = MONA, text = '') {
  const kind = key.startsWith('review:') ? ('reviewed' as const) : ('commented' as const);
  return { key, authorId, url: `${PULL}#${key}`, at, text, kind };
}

describe('the events of a pull request', () => {
  it('are none while nobody has done anything', () => {
    expect(ownPrHash(activity(), OWN)).toBe('0123456789ab');
    expect(eventsOf(activity(), [], OWN)).toEqual([]);
  });

  it('are all remarks of others in the order of time, each under its own page', () => {
    const remarks = [
      remark('comment:3', '2026-01-03T00:00:00Z'),
      remark('comment:4', '2026-01-05T00:00:00Z', null),
      remark('comment:5', '2026-01-06T00:00:00Z', BOT),
      remark('review:9', '2026-01-04T00:00:00Z'),
      { ...remark('review:10', '2026-01-07T00:00:00Z'), kind: 'changes-requested' as const },
    ];
    expect(eventsOf(activity(), remarks, OWN)).toEqual([
      { key: 'comment:3', kind: 'commented', number: 7, url: `${PULL}#comment:3` },
      { key: 'review:9', kind: 'reviewed', number: 7, url: `${PULL}#review:9` },
      { key: 'comment:4', kind: 'commented', number: 7, url: `${PULL}#comment:4` },
      { key: 'review:10', kind: 'changes-requested', number: 7, url: `${PULL}#review:10` },
    ]);
  });

  it('tell what the bot says for somebody', () => {
    const text = commentText('Hm', { hash: '0123abcd', karma: 1, origin: 'https://veil.example' });
    const remarks = [remark('comment:5', '2026-01-06T00:00:00Z', BOT, text)];
    expect(eventsOf(activity(), remarks, OWN).map(({ key }) => key)).toEqual(['comment:5']);
  });

  it('end with the merge, which is not also a closing', () => {
    const closedAt = '2026-01-09T00:00:00Z';
    const remarks = [remark('comment:3', '2026-01-10T00:00:00Z')];
    const events = eventsOf(activity({ closedAt, mergedAt: closedAt }), remarks, OWN);
    expect(events.map(({ key }) => key)).toEqual(['comment:3', 'merged:7']);
  });

  it('tell one closing from the next, and one pull request of the branch from another', () => {
    const keys = [
      activity({ closedAt: '2026-01-09T00:00:00Z' }),
      activity({ closedAt: '2026-01-11T00:00:00Z' }),
      activity({ closedAt: '2026-01-09T00:00:00Z', number: 8 }),
    ].map((state) => eventsOf(state, [], OWN)[0]?.key);
    expect(new Set(keys).size).toBe(3);
    expect(keys[0]).toBe(eventsOf(activity({ closedAt: '2026-01-09T00:00:00Z' }), [], OWN)[0]?.key);
  });

  it.each([
    ['of someone else, whose branch is named after the pr_hash', { authorId: 3 }],
    ['of a deleted account', { authorId: null }],
    ['from a branch that is no working branch', { branch: 'main' }],
    ['from a branch that only begins like one', { branch: 'anon-0123456789ab-2' }],
  ])('do not exist for a pull request %s', (_what, changes) => {
    expect(ownPrHash(activity(changes), OWN)).toBeNull();
  });
});
