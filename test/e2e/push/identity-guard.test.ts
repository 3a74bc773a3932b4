/**
 * Nobody publishes themselves by mistake: names and addresses of the commits' authors are found in
 * whatever becomes public, before a byte leaves. The tripwire under each test says the same.
 */
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exifSegment, jpeg, png, tiff } from '../../support/pictures.ts';
import { type Contribution, contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines, statusTable } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

const REASON = 'your name would become public';

const noise = (bytes: number) => randomBytes(bytes / 2).toString('hex');

/** Nothing has left; answers what the person was told. */
async function expectFound(contribution: Contribution, ...args: string[]): Promise<string> {
  const { clone, upstream } = contribution;
  const pushed = await clone.push(...args);
  const lines = await expectRefused(bed, upstream, pushed, REASON);
  expect(lines).toContain('To publish it anyway, add: -o publish-names');
  expect(lines.find((line) => line.startsWith('Nothing of this push was sent.'))).toBeDefined();
  expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);
  return lines.join('\n');
}

describe('a name or an address in a message', () => {
  it('is found in a trailer, and can be published on purpose', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    const trailer = `Signed-off-by: ${person.authorName} <${person.authorEmail}>`;
    await clone.commit({ message: `Fix typo\n\n${trailer}\n` });
    const lines = await expectFound(contribution);
    expect(lines).toContain(`message of "Fix typo": ${trailer}`);
    expect(lines).toContain('git commit --amend');
    bed.tripwire.tolerate('published on purpose', ({ secret }) =>
      ['name', 'email', 'word'].includes(secret.kind),
    );
    const pushed = await clone.push('-o', 'publish-names', 'origin', 'HEAD:topic');
    await expectAccepted(bed, contribution, pushed);
    expect(remoteLines(pushed).join('\n')).toContain(`message of "Fix typo": ${trailer}`);
  });

  it(
    'is no news in a line that upstream has, also if the client sends the whole file',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      const person = bed.person();
      const lines = (last: string) => `Our people:\n${person.authorName}\n${last}\n`;
      await upstream.grow({ files: { 'docs/AUTHORS': lines('and others') } });
      const clone = await person.copy(upstream);
      await clone.commit({ files: { 'docs/AUTHORS': lines('and many others') } });
      bed.tripwire.tolerate('upstream names the person', ({ secret }) =>
        ['name', 'word'].includes(secret.kind),
      );
      const pushed = await clone.tryGit('-c', 'pack.window=0', 'push', 'origin', 'HEAD:topic');
      await expectAccepted(bed, { clone, upstream }, pushed);
      await clone.commit({ files: { 'docs/AUTHORS': lines(`and ${person.authorName} again`) } });
      const refused = await clone.tryGit('-c', 'pack.window=0', 'push', 'origin', 'HEAD:topic');
      expect(refused.stderr).toContain('your name would become public');
    },
  );

  it('is found in the title and the description that the push gives', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    await clone.commit();
    const options = ['-o', `title=By ${person.authorName}`, '-o', `description=${person.authorEmail}`];
    const lines = await expectFound(contribution, ...options, 'origin', 'HEAD:topic');
    expect(lines).toContain(`title: By ${person.authorName}`);
    expect(lines).toContain(`description: ${person.authorEmail}`);
  });
});

/** A list to which a person's name is added; the lines around have all of it but two letters. */
async function listed() {
  const upstream = await bed.createUpstream();
  const person = bed.person();
  const entry = `- ${person.authorName}`;
  const lines = Array.from({ length: 40 }, () => `- ${randomBytes(9).toString('hex')}`);
  const list = [...lines.slice(0, 20), `${entry.slice(0, -2)}~~`, ...lines.slice(20)];
  const others = Array.from({ length: 8 }, (_, at) => [`docs/${at}.txt`, `${at}\n${noise(900)}\n`] as const);
  await upstream.grow({ files: { 'docs/AUTHORS': `${list.join('\n')}\n`, ...Object.fromEntries(others) } });
  const clone = await person.copy(upstream);
  const longer = [...list.slice(0, 20), entry, ...list.slice(20)];
  const changed = others.map(([name, text]) => [name, `${text}changed\n`] as const);
  await clone.commit({ files: { 'docs/AUTHORS': `${longer.join('\n')}\n`, ...Object.fromEntries(changed) } });
  return { upstream, person, clone, found: `  docs/AUTHORS: ${entry}` };
}

describe('a name or an address in files', () => {
  it('is found in a new file, with the file’s name and the line', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    const text = `#include <a.h>\n// written by ${person.authorName} in a hurry\nint x;\n`;
    await clone.commit({ files: { 'src/a.c': text } });
    expect(await expectFound(contribution)).toContain(
      `src/a.c: // written by ${person.authorName} in a hurry`,
    );
  });

  it('is found where the delta copies nearly all of it from the lines around', async () => {
    const { upstream, clone, found } = await listed();
    const lines = await expectRefused(bed, upstream, await clone.push(), REASON);
    expect(lines).toContain(found);
    expect(lines.join()).toContain(
      'Nothing of this push was sent. To search, the service has read upstream’s versions of the changed files',
    );
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toEqual([]);
  });

  it('is found in the name of a file', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    const name = person.authorName.replace(' ', '.');
    await clone.commit({ files: { [`notes/${name}.txt`]: 'x\n' } });
    expect(await expectFound(contribution)).toContain(`name of a file: `);
  });

  it('is no part of another word', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    bed.tripwire.tolerate('these words are not the name', ({ secret }) => secret.kind === 'word');
    await clone.commit({ message: `About ${person.authorName.split(' ')[0]} and x${person.authorName}s\n` });
    bed.tripwire.tolerate('a longer word', ({ secret }) => secret.kind === 'name');
    await expectAccepted(bed, contribution, await clone.push());
  });
});

describe('what nobody is refused for', () => {
  it('is a name of one word: it is told before it is published, and in a preview', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'README.md': `Be kind.\n${noise(400)}\n` } });
    const contribution = { upstream, clone: await bed.person().copy(upstream) };
    const { clone } = contribution;
    const readme = join(clone.path, 'README.md');
    appendFileSync(readme, 'Every contributor is welcome.\n');
    for (const who of ['user', 'author', 'committer'])
      await clone.git('config', `${who}.name`, 'contributor');
    await clone.git('commit', '--quiet', '--all', '-m', 'Thank every contributor');
    expect(await clone.git('log', '-1', '--format=%an %cn')).toBe('contributor contributor');
    const told = [
      'A name or login may become public. Check whether these lines name you:',
      '  message of "Thank every contributor": Thank every contributor',
      '  a changed file: Every contributor is welcome.',
    ];
    const preview = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic'));
    expect(preview.filter((line) => told.includes(line))).toEqual(told);
    expect(preview.join('\n')).not.toContain('would be REFUSED');
    bed.tripwire.tolerate('a word like any other', ({ secret }) => secret.text === 'contributor');
    const pushed = await clone.push();
    await expectAccepted(bed, contribution, pushed);
    const lines = remoteLines(pushed);
    expect(lines.filter((line) => told.includes(line))).toEqual(told);
    expect(lines.indexOf(told[2] ?? '')).toBeLessThan(lines.indexOf('Your pull request is open.'));
  });

  it('is told before it is published: home folders, files of editors, and files that cannot be searched', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'img/old.png': 'old', 'a.txt': `${noise(400)}\n` } });
    const contribution = { upstream, clone: await bed.person().copy(upstream) };
    const { clone } = contribution;
    const photo = jpeg(exifSegment(tiff({ 0x010f: 'Nokia', 0x013b: 'Augusta' }, {}, true)));
    const files = {
      'img/new.png': png(),
      'img/photo': photo,
      '.DS_Store': '\0',
      '.idea/workspace.xml': '<x/>\n',
    };
    await clone.commit({
      message: 'Build it\n\nOn C:\\Users\\ada\\x\n',
      files: { ...files, Makefile: 'all:\n\tcc -I/home/ada/include\n' },
    });
    const told = [
      'Paths of home folders become public. Check whether they name you:',
      '  Makefile: /home/ada',
      '  a message: C:\\Users\\ada',
      'Files of an editor, a system or one machine become public:',
      '  .DS_Store: how a file manager shows a folder of yours',
      '  .idea/workspace.xml: settings of your editor',
      'These pictures say more than they show:',
      '  img/photo (JPEG picture): has Exif data, perhaps a place; author Augusta',
      'The service cannot search inside these files for names:',
      '  img/new.png (PNG picture)',
      'To remove it from a file: "exiftool -all= <file>", or "mat2 --inplace <file>", which also reads documents.',
    ];
    const preview = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic'));
    expect(preview.filter((line) => told.includes(line))).toEqual(told);
    expect(preview.join('\n')).not.toContain('old.png');
    const pushed = await clone.push();
    await expectAccepted(bed, contribution, pushed);
    const lines = remoteLines(pushed);
    expect(lines.filter((line) => told.includes(line))).toEqual(told);
    expect(lines.indexOf('  img/new.png (PNG picture)')).toBeLessThan(
      lines.indexOf('Your pull request is open.'),
    );
  });
});

describe('the original id of a commit', () => {
  it('is found in a file, and can be published on purpose', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    const id = await clone.commit({ message: 'Format all files\n' });
    await clone.commit({ files: { '.git-blame-ignore-revs': `# format\n${id}\n` } });
    const lines = await expectRefused(
      bed,
      upstream,
      await clone.push(),
      'original commit ids would become public',
    );
    expect(lines).toContain(`  .git-blame-ignore-revs: the id of a commit of this push: ${id}`);
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);
    bed.tripwire.tolerate('published on purpose', ({ secret }) => secret.kind === 'id');
    const pushed = await clone.push('-o', 'publish-names', 'origin', 'HEAD:topic');
    await expectAccepted(bed, contribution, pushed);
    expect(remoteLines(pushed).join('\n')).toContain('The original id of a commit would become public:');
  });

  it('is found in a message that git wrote before a rebase', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    const upstreams = await upstream.tip('main~1');
    const first = await clone.commit({ message: `Old\n\n(cherry picked from commit ${upstreams})\n` });
    await clone.git('revert', '--no-edit', 'HEAD');
    await upstream.grow();
    await clone.git('fetch', '--quiet');
    await clone.git('rebase', '--quiet', 'origin/main');
    const reason = 'original commit ids would become public';
    const lines = await expectRefused(bed, upstream, await clone.push(), reason);
    expect(lines.filter((line) => line.includes('a message names a commit'))).toEqual([
      `  a message names a commit that upstream does not have: ${first}`,
    ]);
  });
});

describe('what looks like an id of a commit that upstream does not have', exhaustive, () => {
  it('is told before it is published, wherever it stands in a message, and upstream’s are not', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    const upstreams = await upstream.tip('main~1');
    let first = await clone.commit({ message: 'Old\n' });
    // Digits alone may be a number, and no id, so begin 4 ids in 1,000; and letters alone a word.
    while (!/[a-f]\d|\d[a-f]/.test(first.slice(0, 12))) first = await clone.commit({ message: 'Old\n' });
    await clone.git('commit', '--quiet', '--amend', '--date=2009-02-13 12:00', '-m', 'New');
    const second = (await clone.git('rev-parse', 'HEAD')).trim();
    const message = `More\n\nFixes: ${first.slice(0, 12)}, after ${upstreams.slice(0, 9)}\nSee ${second.slice(0, 8)}\n`;
    await clone.commit({
      message: `${message}\nThis reverts commit ${second.slice(0, 9)} (New, 2009-02-13).\n`,
    });
    const pushed = await clone.push();
    expect(pushed.code).toBe(0);
    const lines = remoteLines(pushed);
    const at = lines.findIndex((told) => told.startsWith('These look like ids of commits'));
    expect(lines[at + 1]).toBe(`  a message: ${first.slice(0, 12)}`);
    expect(lines.slice(at + 2).filter((told) => told.startsWith('  a message'))).toEqual([]);
    const day = lines.findIndex((told) => told.startsWith('The day on which you made a commit'));
    expect(lines[day + 1]).toContain('(New, 2009-02-13)');
  });
});

describe('a preview', () => {
  it('shows what would become public, publishes nothing, and takes no place', async () => {
    const contribution = await contribute(bed);
    const { clone, person, upstream } = contribution;
    await clone.commit({ message: 'First\n' });
    await clone.commit({ message: `Second\n\nWhy.\n\nSigned-off-by: ${person.authorName} <x@y.example>\n` });
    for (let time = 0; time < 6; time++) {
      const pushed = await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
      expect(pushed.code).toBe(1);
      expect(statusTable(pushed)).toEqual([
        ' ! [remote rejected] HEAD -> topic (preview: nothing was published)',
      ]);
      const text = remoteLines(pushed).join('\n');
      expect(text).toContain('This push would be REFUSED: your name would become public (below).');
      expect(text).toContain('With -o publish-names, it would open a pull request:');
      expect(text).toMatch(new RegExp(`Repository: +${upstream.fullName}\n +Base: +main\n +Title: +Second`));
      expect(text).toMatch(/[0-9a-f]{10} {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {2}First\n/);
      expect(text).toMatch(/\d+ objects, \d+ bytes, would be sent\./);
      expect(text).toContain(`message of "Second": Signed-off-by: ${person.authorName}`);
    }
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$|\/pulls$/)).toEqual([]);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('of an update names its pull request, and changes nothing', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const first = await expectAccepted(bed, contribution, await clone.push());
    await clone.commit();
    const options = ['-o', 'preview', '-o', `pr-hash=${first.banner.prHash}`];
    const shown = remoteLines(await clone.push(...options, 'origin', 'HEAD:topic')).join('\n');
    expect(shown).toContain(`This push would update the pull request ${first.pull.url}:`);
    expect(shown).toMatch(/\n {2}Title: {7}\(stays as it is\)\n {2}Description: \(stays as it is\)\n/);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(first.pull.headSha);
  });
});
