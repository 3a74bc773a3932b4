/** The page of a pull request says nothing that the code host's texts could turn against its reader. */
import { expect, it } from 'vitest';
import type { PullRequestView } from '../../src/durable/pull-request/pull-request.ts';
import { pullRequestPage, pullRequestText } from '../../src/pages/pull-request-page.ts';

const HOSTILE: PullRequestView = {
  prHash: '0123456789ab',
  host: 'gh',
  owner: 'octo',
  repo: '$(reboot)\u001b[2J\u202Eolleh',
  number: 7,
  url: 'javascript:alert(1)',
  state: 'closed',
  isShown: true,
  events: [{ id: 1, kind: 'commented', url: 'data:text/html,<script>', at: 1_800_000_000 }],
};
const PAGE = { pullRequest: HOSTILE, origin: 'https://gitveil.test', held: null, needsKey: false };

it('in a browser has no link that could run', async () => {
  const page = String(await pullRequestPage(PAGE).content);
  expect(page.match(/href="(?!\/|https:)[^"]+"/g)).toBeNull();
  expect(page).not.toContain('javascript:');
});

it('in a terminal has no control character, and a command that a shell takes as it is meant', () => {
  const text = pullRequestText(PAGE);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text).toContain("git push -o pr-hash=0123456789ab 'https://gitveil.test/v1/gh/octo/$(reboot)");
  expect(text).toContain('2027-01-15T08:00:00Z  New comment');
});
