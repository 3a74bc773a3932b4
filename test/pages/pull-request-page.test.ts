/**
 * The page of a pull request says nothing that the code host's texts could turn against its reader.
 */
import { expect, it } from 'vitest';
import type { PullRequestView } from '../../src/durable/pull-request/pull-request.ts';
import { CONTRIBUTOR, plainText, type ShownConversation } from '../../src/pages/conversation.ts';
import { pullRequestPage, pullRequestPageText } from '../../src/pages/pull-request-page.ts';

const HOSTILE: PullRequestView = {
  prHash: '0123456789ab',
  host: 'gh',
  owner: 'octo',
  repo: '$(reboot)\u001b[2J\u202Eolleh',
  number: 7,
  url: 'javascript:alert(1)',
  fork: null,
  state: 'closed',
  isShown: true,
  events: [{ id: 1, kind: 'commented', url: 'data:text/html,<script>', at: 1_800_000_000 }],
};
const conversation: ShownConversation = {
  kind: 'shown',
  conversation: {
    title: 'Fix\u202E \u001b[2J',
    state: 'open',
    closedAt: null,
    isLocked: false,
    description: null,
    hasEarlier: false,
    comments: [
      {
        postedAs: null,
        author: 'mona\u202E',
        at: '2026-11-23T10:00:00Z',
        path: 'a\u001b.txt',
        text: '<b>![x](https://spy.test/x.png)\u202E\u001b[31m\n\n\n\n[click](javascript:alert(1))',
      },
    ],
  },
};
const PAGE = {
  pullRequest: HOSTILE,
  origin: 'https://gitveil.test',
  needsKey: false,
  asked: '',
  closed: null,
  takesReplies: true,
  conversation,
};

it('in a browser has no link that could run', async () => {
  const page = String(await pullRequestPage(PAGE).content);
  expect(page.match(/href="(?!\/|https:)[^"]+"/g)).toBeNull();
  expect(page).not.toMatch(/"javascript:/);
});

it('shows what people wrote as plain text', async () => {
  const page = String(await pullRequestPage(PAGE).content);
  expect(page).toContain('<h1><bdi>Fix[U+202E] \uFFFD[2J</bdi></h1>');
  expect(page).toContain(
    '&lt;b&gt;![x](https://spy.test/x.png)[U+202E]\uFFFD[31m\n\n[click](javascript:alert(1))</pre',
  );
  expect(page).not.toMatch(/<img|<b>|href="[^"]*spy/);
});

it('says why there is no conversation', async () => {
  const why = 'github.com does not answer now.';
  const page = { ...PAGE, conversation: { kind: 'unknown' as const, why } };
  expect(String(await pullRequestPage(page).content)).toContain(why);
  expect(pullRequestPageText(page)).toContain(why);
});

it('cuts what is long, but no character in two', () => {
  const long = plainText(`${'a'.repeat(1_999)}😀 and more`);
  expect(long).toBe(`${'a'.repeat(1_999)}…`);
  expect(plainText(' short\r\n')).toBe('short');
});

it('has a command with the options that the repository asks for', () => {
  const asked = '-o sign-off ';
  expect(pullRequestPageText({ ...PAGE, asked })).toContain('git push -o pr-hash=0123456789ab -o sign-off ');
});

it('says why it cannot be updated, in place of how, and still how to withdraw it', async () => {
  const closed = 'octo/hello accepts nothing.\nUse your own account.';
  const page = { ...PAGE, pullRequest: { ...HOSTILE, state: 'open' as const }, closed };
  const inBrowser = String(await pullRequestPage(page).content);
  expect(inBrowser).toContain('<p>octo/hello accepts nothing.</p><p>Use your own account.</p>');
  for (const text of [inBrowser, pullRequestPageText(page)]) {
    const shown = text.replaceAll('<wbr>', '');
    expect(shown).not.toMatch(/HEAD:refs\/heads\/my-change|change a file/i);
    expect(shown).toContain('HEAD:refs/heads/withdraw');
  }
  expect(pullRequestPageText(page)).toContain(closed);
});

it('in a terminal has no control character, and a command that a shell takes as it is meant', () => {
  const text = pullRequestPageText(PAGE);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text).toContain("git push -o pr-hash=0123456789ab $'https://gitveil.test/v1/gh/octo/$(reboot)");
  expect(text).toContain('  [click](javascript:alert(1))');
});

const AT = 1_800_000_000;
const OPEN: PullRequestView = {
  ...HOSTILE,
  repo: 'hello',
  url: 'https://host.test/octo/hello/pull/7',
  title: 'As it was recorded',
  state: 'open',
  events: [
    { id: 3, kind: 'updated', url: '', at: AT + 30, commits: { added: 1, changed: 0, dropped: 2 } },
    { id: 2, kind: 'changes-requested', url: '', at: AT + 20 },
    { id: 1, kind: 'opened', url: '', at: AT },
  ],
};
const said = (author: string, text: string, seconds: number, postedAs: string | null = null) => {
  return { author, text, at: new Date((AT + seconds) * 1000).toISOString(), path: null, postedAs };
};
const FOOTER = '\n\n---\nanon-0123abcd · karma (1) · [report](https://gitveil.test/v1/moderation/report)';
const DISCUSSED = {
  ...conversation.conversation,
  title: 'Greet people',
  description: said('bot', 'Why not.', 0, CONTRIBUTOR),
  comments: [said('bot', `For me, too.${FOOTER}`, 25, 'anon-0123abcd'), said('mona', `Why?${FOOTER}`, 10)],
};

it('names its address at the code host last, and says what opening it early tells there', () => {
  const lines = pullRequestPageText({ ...PAGE, pullRequest: OPEN })
    .trimEnd()
    .split('\n');
  expect(lines.findIndex((line) => line.endsWith(OPEN.url))).toBe(lines.length - 2);
  expect(lines.slice(-2)).toEqual([
    `At the code host: ${OPEN.url}`,
    'Whoever opens it early looks like its author there.',
  ]);
});

it('tells everything in the order of time, and marks what this service has posted', () => {
  const page = {
    ...PAGE,
    pullRequest: OPEN,
    conversation: { kind: 'shown' as const, conversation: DISCUSSED },
  };
  const lines = pullRequestPageText(page).split('\n');
  expect(lines.slice(0, 2)).toEqual(['octo/hello #7', 'Greet people']);
  expect(lines.filter((line) => /^2027-|^ {2}\w+/.test(line)).slice(0, 8)).toEqual([
    '2027-01-15T08:00:00Z  The contributor',
    '  Why not.',
    '2027-01-15T08:00:10Z  mona',
    '  Why?',
    '  anon-0123abcd · karma (1) · [report](https://gitveil.test/v1/moderation/report)',
    '2027-01-15T08:00:20Z  Changes requested',
    '2027-01-15T08:00:25Z  anon-0123abcd',
    '  For me, too.',
  ]);
  expect(lines).toContain('2027-01-15T08:00:30Z  Updated: 1 commit added, 2 dropped');
});

it('names itself by its own record while the host is silent, but not if the public may not see it', async () => {
  const silent = { ...PAGE, pullRequest: OPEN, conversation: { kind: 'unknown' as const, why: 'Silence.' } };
  const shown = String(await pullRequestPage(silent).content);
  expect(shown).toContain('<bdi>As it was recorded</bdi>');
  expect(shown).toContain('>Reply</a>');
  expect(shown).toMatch(/Opened\s*<time/);
  const hidden = { ...silent, conversation: { kind: 'missing' as const } };
  expect(String(await pullRequestPage(hidden).content)).toContain('<bdi>octo/hello #7</bdi>');
});

it('offers no reply where none is taken', async () => {
  const page = { ...PAGE, pullRequest: OPEN };
  expect(String(await pullRequestPage({ ...page, takesReplies: false }).content)).not.toContain('>Reply</a>');
  const locked = { kind: 'shown' as const, conversation: { ...DISCUSSED, isLocked: true } };
  expect(pullRequestPageText({ ...page, conversation: locked })).not.toContain('Reply: ');
});

it('says that earlier comments are left out of a long thread', async () => {
  const comments = Array.from({ length: 50 }, (_, at) => said('mona', `Word ${at}`, 100 - at));
  const long = { kind: 'shown' as const, conversation: { ...DISCUSSED, comments, hasEarlier: true } };
  const shown = String(await pullRequestPage({ ...PAGE, pullRequest: OPEN, conversation: long }).content);
  const places = ['Why not.', 'Earlier comments are left out', 'Word 49', 'Word 0'].map((text) =>
    shown.indexOf(text),
  );
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
});
