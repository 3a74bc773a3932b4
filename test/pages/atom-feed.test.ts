/** The feed of a pull request is XML and Atom, whatever the code host has called things. */
import { describe, expect, it } from 'vitest';
import type { PullRequestView } from '../../src/durable/pull-request/pull-request.ts';
import { atomFeed, xmlText } from '../../src/pages/atom-feed.ts';
import { pullRequestPageText } from '../../src/pages/pull-request-page.ts';

const ORIGIN = 'https://gitveil.test';
const VIEW: PullRequestView = {
  prHash: '0123456789ab',
  host: 'gh',
  owner: 'octo',
  repo: 'hello',
  number: 7,
  url: 'https://host.test/octo/hello/pull/7',
  fork: null,
  state: 'open',
  isShown: true,
  events: [
    {
      id: 2,
      kind: 'commented',
      url: 'https://host.test/octo/hello/pull/7#issuecomment-1',
      at: 1_800_000_060,
    },
    { id: 1, kind: 'opened', url: '', at: 1_800_000_000 },
  ],
};

describe('the feed', () => {
  it('has all that RFC 4287 asks for', () => {
    expect(atomFeed(VIEW, ORIGIN)).toBe(`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${ids(atomFeed(VIEW, ORIGIN))[0]}</id>
  <title>octo/hello #7</title>
  <updated>2027-01-15T08:01:00Z</updated>
  <author><name>gitveil</name></author>
  <link rel="self" type="application/atom+xml" href="https://gitveil.test/v1/pr/0123456789ab.atom"/>
  <link rel="alternate" type="text/html" href="https://gitveil.test/v1/pr/0123456789ab"/>
  <entry>
    <id>${ids(atomFeed(VIEW, ORIGIN))[1]}</id>
    <title>octo/hello #7: new comment</title>
    <updated>2027-01-15T08:01:00Z</updated>
    <content type="text">Somebody has commented on it. Its page shows what they wrote.</content>
    <link rel="alternate" href="https://gitveil.test/v1/pr/0123456789ab"/>
  </entry>
  <entry>
    <id>${ids(atomFeed(VIEW, ORIGIN))[2]}</id>
    <title>octo/hello #7: opened</title>
    <updated>2027-01-15T08:00:00Z</updated>
    <content type="text">The maintainers have not decided yet.</content>
    <link rel="alternate" href="https://gitveil.test/v1/pr/0123456789ab"/>
  </entry>
</feed>
`);
  });

  it('keeps its ids, whatever is added and wherever the service is, and has none twice', () => {
    const before = ids(atomFeed({ ...VIEW, events: VIEW.events.slice(1) }, ORIGIN));
    const after = ids(atomFeed({ ...VIEW, owner: 'renamed' }, 'https://other.test'));
    expect(after).toEqual(expect.arrayContaining(before));
    expect(new Set(after).size).toBe(3);
    for (const id of after) {
      expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(ids(atomFeed({ ...VIEW, prHash: 'ba9876543210' }, ORIGIN))).not.toContain(after[1]);
  });

  it('has no address of the code host, and is a feed without any event, too', () => {
    expect(atomFeed(VIEW, ORIGIN)).not.toContain('host.test');
    expect(atomFeed({ ...VIEW, events: [] }, ORIGIN)).toContain('<updated>1970-01-01T00:00:00Z</updated>');
  });
});

function ids(feed: string): string[] {
  return [...feed.matchAll(/<id>([^<]*)<\/id>/g)].map(([, id]) => id!);
}

/** Another may be opened under its hash. */
const CLOSED: PullRequestView = {
  prHash: '0123456789ab',
  host: 'gh',
  owner: 'octo',
  repo: 'hello',
  number: 21,
  url: 'https://host.test/octo/hello/pull/21',
  fork: null,
  title: 'First & last',
  state: 'closed',
  isShown: true,
  events: [
    { id: 3, kind: 'closed', url: '', at: 1_800_000_200, number: 21, title: 'First & last' },
    { id: 2, kind: 'approved', url: '', at: 1_800_000_100, number: 21, title: 'First & last' },
    { id: 1, kind: 'opened', url: '', at: 1_800_000_000, number: 21, title: 'First & last' },
  ],
};
const LATER: PullRequestView = {
  ...CLOSED,
  number: 22,
  title: 'Second',
  state: 'open',
  events: [
    { id: 4, kind: 'opened', url: '', at: 1_800_000_300, number: 22, title: 'Second' },
    ...CLOSED.events,
  ],
};

const entriesOf = (feed: string) => feed.match(/<entry>.*?<\/entry>/gs) ?? [];

it('each entry has a title and a text', () => {
  const [newest = ''] = entriesOf(atomFeed(CLOSED, ORIGIN));
  expect(newest).toContain('<title>octo/hello #21: closed</title>');
  const text = 'First &amp; last\nIt was closed without a merge. An update opens a new pull request.';
  expect(newest).toContain(`<content type="text">${text}</content>`);
});

const entryOf = (event: PullRequestView['events'][number]) =>
  entriesOf(atomFeed({ ...CLOSED, events: [event] }, ORIGIN)).join();

it('an entry of an update says what it has changed, if that is known', () => {
  const update = { id: 4, kind: 'updated', url: '', at: 1_800_000_300, number: 21 } as const;
  const commits = { added: 2, changed: 0, dropped: 1 };
  expect(entryOf({ ...update, commits })).toContain('2 commits added, 1 dropped.</content>');
  expect(entryOf(update)).toContain('It has other commits than before.</content>');
});

it('an entry does not change when another pull request is opened under the hash', () => {
  const entries = entriesOf(atomFeed(LATER, ORIGIN));
  expect(entries.slice(1)).toEqual(entriesOf(atomFeed(CLOSED, ORIGIN)));
  expect(entries[0]).toContain('<title>octo/hello #22: opened</title>');
});

it('the page tells events of an earlier one apart, and takes none of its reviews for the new one', () => {
  const conversation = { kind: 'unknown', why: 'Silence.' } as const;
  const text = pullRequestPageText({
    pullRequest: LATER,
    origin: ORIGIN,
    needsKey: false,
    asked: '',
    closed: null,
    takesReplies: true,
    conversation,
  });
  expect(text).toContain('Closed (#21)');
  expect(text).toContain('Open. The maintainers have not decided yet.');
});

describe('XML text', () => {
  it.each([
    ['the end of a CDATA section', ']]>', ']]&gt;'],
    ['an element', '<script>', '&lt;script&gt;'],
    ['an entity and quotes', `&lt;"'`, '&amp;lt;&quot;&#39;'],
    ['NUL and other control characters', 'a\0\b\u001bz', 'a\uFFFD\uFFFD\uFFFDz'],
    ['lone surrogates', 'a\uD800b\uDC00', 'a\uFFFDb\uFFFD'],
    ['no characters', '\uFFFE\uFFFF', '\uFFFD\uFFFD'],
    ['all other characters', '\t\né😀\u{10FFFF}', '\t\né😀\u{10FFFF}'],
  ])('holds %s', (_what, text, expected) => {
    expect(xmlText(text)).toBe(expected);
  });
});
