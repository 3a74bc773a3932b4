/**
 * Messages are kept byte for byte, but for ids of the push's own commits; people get to read them in the pull request.
 */
import { describe, expect, it } from 'vitest';
import { keepsMessage } from '../shapes/messages.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { readHistory } from '../support/objects.ts';
import { bannerOf } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

/** "件名" (subject) and "本文" (text) in Shift_JIS; the second byte of 本 is outside ASCII, that of 文 is 0xb6. */
const SHIFT_JIS = Buffer.from('8c8f96bc0a0a967b95b60a', 'hex');

describe('a message', () => {
  it.each<[what: string, message: string | Buffer, title: string, body: string]>([
    ['of one line without a line feed', 'Just a title', 'Just a title', ''],
    ['without a blank line behind the title', 'Title\nText at once\n', 'Title', 'Text at once'],
    ['with CRLF line ends', 'Title\r\n\r\nText\r\nmore\r\n', 'Title', 'Text\r\nmore'],
    ['that begins with blank lines', '\n\n  Title\n\nText\n', 'Title', 'Text'],
    ['that ends in many blank lines', 'Title\n\nText\n\n\n\n', 'Title', 'Text'],
    ['that is empty', '', 'Anonymous contribution', ''],
    ['of white space', ' \n\t\n', 'Anonymous contribution', ''],
    [
      'with trailers',
      'Title\n\nText\n\nReviewed-by: R <r@x.example>\n',
      'Title',
      'Text\n\nReviewed-by: R <r@x.example>',
    ],
    ['with Markdown and HTML', '`a` <b>\n\n- @someone #1\n', '`a` <b>', '- @someone #1'],
    ['with letters of many scripts', 'Größe 日本語 🎉\n\nمرحبا\n', 'Größe 日本語 🎉', 'مرحبا'],
    ['that looks like commit headers', 'tree x\nauthor y\n\ngpgsig z\n', 'tree x', 'author y\n\ngpgsig z'],
    ['with bytes that are no UTF-8', Buffer.from('54c3280a0aff0afe0a', 'hex'), 'T\ufffd(', '\ufffd\n\ufffd'],
    [
      'with control characters',
      'Ti\u0001tle\u001b[31m\n\nTe\u0007xt\n',
      'Ti\u0001tle\u001b[31m',
      'Te\u0007xt',
    ],
  ])('%s is kept', (_, message, title, body) => keepsMessage(bed, message, title, body));

  it('in Shift_JIS keeps its bytes and its encoding header, and is decoded for the pull request', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.git('config', 'i18n.commitEncoding', 'Shift_JIS');
    await clone.commit({ message: SHIFT_JIS });
    const { pull, commits } = await expectAccepted(bed, contribution, await clone.push());
    expect(commits[0]?.headers).toContainEqual(['encoding', 'Shift_JIS']);
    expect(commits[0]?.message.equals(SHIFT_JIS)).toBe(true);
    expect([pull.title, pull.body]).toEqual(['件名', '本文']);
  });

  it('in an encoding that nobody knows is kept all the same', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const tip = await clone.commitObject({
      tree: await clone.tree(),
      parents: [await clone.git('rev-parse', 'HEAD')],
      message: 'Plain enough\n',
      headers: ['encoding X-KLINGON-8'],
    });
    const pushed = await clone.push('origin', `${tip}:refs/heads/topic`);
    const { pull, commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits[0]?.headers).toContainEqual(['encoding', 'X-KLINGON-8']);
    expect(pull.title).toBe('Plain enough');
  });

  it('whose title is too long for the host is cut there, and opens the text instead', async () => {
    const contribution = await contribute(bed);
    const title = `A very long title ${'🎉 and more '.repeat(60)}end`;
    await contribution.clone.commit({ message: `${title}\n\nText.\n` });
    const { pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(pull.title.length).toBeLessThanOrEqual(256);
    expect(pull.title).toMatch(/^A very long title .*…$/);
    expect(pull.title.isWellFormed()).toBe(true);
    expect(pull.body).toBe(`${title}\n\nText.`);
  });

  it('may name people: it is the one thing that is kept as it was written', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    await clone.commit({
      message: `Fix it\n\nSigned-off-by: ${person.authorName} <${person.authorEmail}>\n`,
    });
    bed.tripwire.tolerate(
      'a message is kept byte for byte',
      ({ secret, where }) =>
        ['name', 'email', 'word'].includes(secret.kind) &&
        /: commit |pulls: body|git-receive-pack: body/.test(where),
    );
    const { pull } = await expectAccepted(
      bed,
      contribution,
      await clone.push('-o', 'publish-names', 'origin', 'HEAD:topic'),
    );
    expect(pull.body).toContain(person.authorName);
  });
});

describe('a message that names a commit of the same push', exhaustive, () => {
  it('by `git cherry-pick -x` from a branch that is merged later names the new commit', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.git('switch', '--quiet', '-c', 'zz-side');
    const picked = await clone.commit({ message: 'To be picked\n' });
    await clone.git('switch', '--quiet', '-c', 'topic', 'main');
    await clone.commit({ message: 'First\n' });
    await clone.git('cherry-pick', '-x', picked);
    await clone.git('merge', '--quiet', '-m', 'Merge side', 'zz-side');
    const pushed = await clone.push('origin', 'topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const history = await readHistory(
      bed.host.forkPath(upstream) as string,
      '^main',
      bannerOf(pushed).branch,
    );
    const named = history.map(
      ({ message }) => /cherry picked from commit (\w+)/.exec(message.toString())?.[1],
    );
    expect(history.map(({ oid }) => oid)).toContain(named.find(Boolean));
  });
});
