/**
 * The page of a pull request says nothing that the code host's texts could turn against its reader.
 */
import { expect, it } from 'vitest';
import type { PullRequestView } from '../../src/durable/pull-request/pull-request.ts';
import { plainText, type ShownConversation } from '../../src/pages/conversation.ts';
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
    comments: [
      {
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
  conversation,
};

it('in a browser has no link that could run', async () => {
  const page = String(await pullRequestPage(PAGE).content);
  expect(page.match(/href="(?!\/|https:)[^"]+"/g)).toBeNull();
  expect(page).not.toMatch(/"javascript:/);
});

it('shows what people wrote as plain text', async () => {
  const page = String(await pullRequestPage(PAGE).content);
  expect(page).toContain('<dd>Fix[U+202E] \uFFFD[2J</dd>');
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
  for (const shown of [inBrowser, pullRequestPageText(page)]) {
    expect(shown).not.toMatch(/HEAD:refs\/heads\/my-change|change a file/);
    expect(shown).toContain('HEAD:refs/heads/withdraw');
  }
  expect(pullRequestPageText(page)).toContain(closed);
});

it('in a terminal has no control character, and a command that a shell takes as it is meant', () => {
  const text = pullRequestPageText(PAGE);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text).toContain("git push -o pr-hash=0123456789ab $'https://gitveil.test/v1/gh/octo/$(reboot)");
  expect(text).toContain('2027-01-15T08:00:00Z  New comment');
});
