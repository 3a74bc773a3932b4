/** The banner holds all that the contract lists (4.6, step 8). */
import { describe, expect, it } from 'vitest';
import { bannerLines, delayedLines, keyLines, pageLines } from '../../../src/push/reply/banner.ts';
import { oneBranchCommand, shellWord } from '../../../src/push/reply/commands.ts';

const FACTS = {
  updated: false,
  changes: null,
  hasEdited: false,
  isRepeated: false,
  isDouble: false,
  prUrl: 'https://host.test/octo/hello/pull/7',
  author: 'gitveil-bot',
  branch: 'anon-0123456789ab',
  prHash: '0123456789ab',
  key: null,
  prKey: null,
  isSignedOff: false,
  stripsTrails: false,
  isSquashed: false,
  isDraft: false,
  base: null,
  newRemarks: 0,
  pageUrl: 'https://service.test/v1/pr/0123456789ab',
  subscribeUrl: 'https://notify.test/anon-pr-0123456789ab',
  remoteUrl: 'https://service.test/v1/gh/octo/hello',
  door: 'git' as const,
  refName: 'refs/heads/fix',
};

it.each([
  ['refs/heads/fix', 'refs/heads/fix'],
  ["title=It's done", String.raw`'title=It'\''s done'`],
  // As a terminal shows it, U+200D would be a text, and be published.
  ['title=For 👩\u200D💻', String.raw`$'title=For 👩\342\200\215💻'`],
  ["title=\u202Ea\\b'c", String.raw`$'title=\342\200\256a\\b\'c'`],
  ['title=\u001B[2J7', String.raw`$'title=\033[2J7'`],
])('shellWord writes %j so that it is seen, and read as it was', (text, word) => {
  expect(shellWord(text)).toBe(word);
});

describe('bannerLines', () => {
  it('names the pull request, its author, branch and hash, and how to follow and update it', () => {
    expect(bannerLines(FACTS)).toEqual([
      '',
      'Your pull request is open.',
      '  PR URL:   https://host.test/octo/hello/pull/7',
      '  Author:   gitveil-bot',
      '  Branch:   anon-0123456789ab',
      '  PR hash:  0123456789ab',
      '  Notify:   https://notify.test/anon-pr-0123456789ab',
      '  Follow, reply, withdraw: https://service.test/v1/pr/0123456789ab',
      'To update it, commit again and run:',
      '  git push -o pr-hash=0123456789ab https://service.test/v1/gh/octo/hello HEAD:refs/heads/fix',
    ]);
  });

  it('names the key only in a command that takes it: it stands in the first lines', () => {
    const key = '0123456789abcdef0123456789abcdef';
    for (const prKey of [null, key]) {
      const lines = bannerLines({ ...FACTS, key, prKey });
      expect(lines.join('\n').includes(key)).toBe(prKey !== null);
      expect(lines.at(-1)?.includes(`-o pr-key=${key} `)).toBe(prKey !== null);
    }
    const [intro, ...lines] = keyLines(FACTS.prHash, key);
    expect(intro).toContain(FACTS.prHash);
    expect(lines).toEqual([`  PR key:   ${key}`]);
  });

  it('of a push that is made again says that its key was shown, and leaves a place for it', () => {
    const lines = bannerLines({ ...FACTS, isRepeated: true, prKey: '<key>' });
    expect(lines).toContain('You have pushed this before. Only that answer had its key.');
    expect(lines.at(-1)).toContain(" -o 'pr-key=<key>' ");
    expect(bannerLines({ ...FACTS, isRepeated: true, updated: true }).join()).not.toContain('before');
  });

  it('says how to withdraw one whose commits are open already, now that there is something to withdraw', () => {
    const lines = bannerLines({ ...FACTS, isDouble: true, key: 'k' });
    expect(lines.slice(-4, -1)).toEqual([
      'To withdraw this one:',
      `  git push -o withdraw -o pr-hash=${FACTS.prHash} -o pr-key=k https://service.test/v1/gh/octo/hello HEAD:refs/heads/fix`,
      'To update it, commit again and run:',
    ]);
  });

  it('says that the pull request is a draft', () => {
    expect(bannerLines({ ...FACTS, isDraft: true })).toContain('Your pull request is open as a draft.');
  });

  it('says whether the pull request is new, and what an update adds and drops', () => {
    const second = (changes: string | null) => bannerLines({ ...FACTS, updated: true, changes }).slice(1, 3);
    expect(second(null)[0]).toBe('Your pull request has been updated.');
    expect(second('1 commit added')).toEqual(['Your pull request has been updated.', '1 commit added.']);
    expect(second('')[0]).toBe(`Nothing new: ${FACTS.prUrl} has these commits already.`);
    const edited = bannerLines({ ...FACTS, updated: true, changes: '', hasEdited: true });
    expect(edited[1]).toBe('Your pull request has been updated. Its commits stay the same.');
  });

  it.each([
    [1, '1 new comment'],
    [2, '2 new comments'],
  ])('says in one line that people have written: %d', (newRemarks, words) => {
    const lines = bannerLines({ ...FACTS, updated: true, newRemarks });
    expect(lines).toHaveLength(bannerLines(FACTS).length + 1);
    expect(lines).toContain(`${words} since your last push: ${FACTS.pageUrl}`);
  });

  it('repeats the base that was named', () => {
    const command = bannerLines({ ...FACTS, base: 'release 1', prKey: 'k' }).find((line) =>
      line.includes('git push'),
    );
    expect(command).toContain("git push -o pr-hash=0123456789ab -o pr-key=k -o 'base=release 1' https:");
  });

  it('keeps the sign-off, the one commit, and what is left out of its messages', () => {
    const given = { isSignedOff: true, stripsTrails: true, isSquashed: true };
    const [command = ''] = bannerLines({ ...FACTS, ...given }).slice(-1);
    expect(command).toContain(
      'git push -o pr-hash=0123456789ab -o squash -o sign-off -o strip-trails https:',
    );
  });

  it('of a file that was posted names no commits: what is checked out may be other work', () => {
    const door = { name: 'patch', used: ['title=A & b', 'description=c'] } as const;
    const lines = bannerLines({ ...FACTS, door, isDouble: true, key: 'k', base: 'next', prKey: '<key>' });
    const address = 'https://service.test/v1/gh/octo/hello/patch';
    const message = 'title=A%20%26%20b&description=c';
    expect(lines.slice(-4)).toEqual([
      'To withdraw this one:',
      `  curl -X POST -H 'X-PR-Key: k' '${address}?withdraw&pr-hash=${FACTS.prHash}'`,
      'To update it, send all its commits:',
      `  curl --data-binary '@<your file>' -H 'X-PR-Key: <key>' '${address}?pr-hash=${FACTS.prHash}&base=next&${message}'`,
    ]);
  });

  it('sends one branch alone', () => {
    const remoteUrl = 'https://service.test/v1/gh/octo/hello';
    const refName = "refs/heads/it's";
    const bundle = { name: 'bundle', used: [] } as const;
    const command = (door: 'git' | typeof bundle) =>
      oneBranchCommand('0123456789abcdef', { remoteUrl, refName, door });
    expect(command('git')).toBe(
      String.raw`git push --no-follow-tags ${remoteUrl} '0123456789ab:refs/heads/it'\''s'`,
    );
    expect(command(bundle)).toBe(
      String.raw`git bundle create - 'it'\''s' --not --remotes | curl --data-binary @- ${remoteUrl}/bundle`,
    );
  });

  it.each([
    ['refs/heads/a/b-c_d.e@f', 'HEAD:refs/heads/a/b-c_d.e@f'],
    ['refs/heads/größe', "'HEAD:refs/heads/größe'"],
    ['refs/heads/$(reboot)', "'HEAD:refs/heads/$(reboot)'"],
    ['refs/heads/a;b', "'HEAD:refs/heads/a;b'"],
    ["refs/heads/it's", String.raw`'HEAD:refs/heads/it'\''s'`],
  ])('shows a command that a shell takes as it is meant, for %s', (refName, argument) => {
    const command = bannerLines({ ...FACTS, refName }).find((line) => line.includes('git push'));
    expect(command?.split('octo/hello ')[1]).toBe(argument);
  });
});

describe('delayedLines', () => {
  const HOUR_MS = 3_600_000;
  const pageUrl = 'https://service.test/v1/delayed/0123';
  const window = { from: HOUR_MS, to: 2 * HOUR_MS };

  it('tells the window, and the page only in the lines before', () => {
    expect(delayedLines({ reason: 'delay', window, pageUrl })).toEqual([
      '',
      'Delayed: it will be published between 1970-01-01 01:00 UTC and 1970-01-01 02:00 UTC, or minutes later if others are due, too.',
      'Nothing of it is public yet.',
      'The code host has only seen that somebody read this repository just now, as a fetch does.',
      'At the address above, you can publish it now, or give it up. Keep it secret: so can everybody who has it.',
    ]);
    expect(pageLines(pageUrl).at(-1)).toBe(`  Page:     ${pageUrl}`);
  });

  it('says of a push that waits for room no more than is true: the host was asked about it', () => {
    const words = delayedLines({ reason: 'busy', window, pageUrl }).join(' ');
    expect(words).not.toContain('The code host has only seen');
  });

  it('of a push that waits already says so, without its page', () => {
    expect(delayedLines({ reason: 'review', window, pageUrl: null })).toEqual([
      '',
      'This push waits already.',
      'Delayed: the operator of this service reviews it before it is published.',
      'Nothing of it is public yet.',
      'It keeps the time and the page that it was told first. Only there can you see how it stands, or give it up.',
      'If its address is lost, push to a branch of another name.',
    ]);
  });
});
