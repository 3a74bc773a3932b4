/** Histories of every shape, trees with every kind of entry, and packs with every kind of delta. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as isomorphicGit from 'isomorphic-git';
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted } from './support/contribution.ts';
import { gitIn, readHistory, readObject } from './support/objects.ts';
import { type Clone, PERSON_ZONE } from './support/person.ts';
import { bannerOf } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';
import { handMadePack, packOf, pushBody, readPushAnswer, sendPush } from './support/wire.ts';

const bed = useTestBed();

/** Adds commits on top of HEAD, many at once. */
async function commitMany(clone: Clone, count: number, message: (index: number) => string): Promise<void> {
  const { person } = clone;
  const lines: string[] = [];
  for (let index = 0; index < count; index++) {
    const text = message(index);
    lines.push(
      'commit refs/heads/many',
      `author ${person.authorName} <${person.authorEmail}> ${person.nextDate()} ${PERSON_ZONE}`,
      `committer ${person.committerName} <${person.committerEmail}> ${person.nextDate()} ${PERSON_ZONE}`,
      `data ${Buffer.byteLength(text)}`,
      text,
      ...(index === 0 ? [`from ${await clone.git('rev-parse', 'HEAD')}`] : []),
      `M 100644 inline many/${index % 20}.txt`,
      `data ${String(index).length}`,
      `${index}`,
    );
  }
  await person.mustGit(clone.path, ['fast-import', '--quiet'], { input: `${lines.join('\n')}\n` });
  await clone.git('reset', '--quiet', '--hard', 'many');
}

/** A commit with these parents and a tree of its own. */
async function joinHistories(clone: Clone, parents: readonly string[], message: string): Promise<string> {
  await clone.git('read-tree', parents[0] as string);
  const blob = await clone.writeObject('blob', Buffer.from(`${message}\n`));
  await clone.git(
    'update-index',
    '--add',
    '--cacheinfo',
    `100644,${blob},${message.replaceAll(' ', '-')}.txt`,
  );
  return clone.commitObject({ tree: await clone.git('write-tree'), parents, message: `${message}\n` });
}

describe('histories', () => {
  it('keep a merge of two of the person’s own branches', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.git('switch', '--quiet', '-c', 'one');
    await clone.commit();
    await clone.git('switch', '--quiet', '-c', 'two', 'origin/main');
    await clone.commit();
    await clone.git('merge', '--quiet', '--no-edit', '-m', 'Merge one into two', 'one');
    const { commits, pull } = await expectAccepted(bed, contribution, await clone.push());
    expect(commits.map(({ parents }) => parents.length)).toEqual([1, 1, 2]);
    expect(pull.title).toBe('Merge one into two');
  });

  it('keep a merge of upstream into the person’s branch', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const tip = await upstream.grow({ count: 2 });
    bed.tripwire.tolerate(
      'a fetch tells the host which commits the client has',
      ({ secret, where }) => secret.kind === 'id' && where.includes('git-upload-pack'),
    );
    await clone.git('fetch', '--quiet');
    await clone.git('merge', '--quiet', '--no-edit', '-m', 'Merge upstream', 'origin/main');
    await clone.commit();
    const { commits } = await expectAccepted(bed, contribution, await clone.push());
    expect(commits).toHaveLength(3);
    expect(commits[1]?.parents).toEqual([commits[0]?.oid, tip]);
  });

  it('keep criss-cross merges', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const base = await clone.git('rev-parse', 'HEAD');
    const [a, b] = [await joinHistories(clone, [base], 'a'), await joinHistories(clone, [base], 'b')];
    const [ab, ba] = [
      await joinHistories(clone, [a, b], 'a with b'),
      await joinHistories(clone, [b, a], 'b with a'),
    ];
    const tip = await joinHistories(clone, [ab, ba], 'both again');
    const pushed = await clone.push('origin', `${tip}:refs/heads/criss-cross`);
    const { commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits).toHaveLength(5);
  });

  it('keep an octopus merge, upstream’s commits among its arms', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const base = await clone.git('rev-parse', 'HEAD');
    const older = await clone.git('rev-parse', 'HEAD~1');
    const arms = [
      await joinHistories(clone, [base], 'one'),
      await joinHistories(clone, [older], 'two'),
      await joinHistories(clone, [base], 'three'),
    ];
    const tip = await joinHistories(clone, [...arms, base], 'octopus');
    const pushed = await clone.push('origin', `${tip}:refs/heads/octopus`);
    const { commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits.at(-1)?.parents).toHaveLength(4);
    expect(commits.at(-1)?.parents[3]).toBe(base);
  });

  it('keep a merge of a history that has nothing in common with upstream’s', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const base = await clone.git('rev-parse', 'HEAD');
    const blob = await clone.writeObject('blob', Buffer.from('vendored\n'));
    await clone.git('read-tree', '--empty');
    await clone.git('update-index', '--add', '--cacheinfo', `100644,${blob},vendored.txt`);
    const tree = await clone.git('write-tree');
    const root = await clone.commitObject({ tree, parents: [], message: 'A root\n' });
    const tip = await joinHistories(clone, [base, root], 'vendor it');
    const pushed = await clone.push('origin', `${tip}:refs/heads/vendor`);
    const { commits } = await expectAccepted(bed, contribution, pushed, { tip });
    expect(commits[0]?.parents).toEqual([]);
  });

  it('are read alike by another implementation of Git', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    for (const message of ['One\n', 'Two\n\nWith text.\n', 'Three\n']) await clone.commit({ message });
    const { banner, forkPath } = await expectAccepted(bed, contribution, await clone.push());
    const own = { fs, gitdir: join(clone.path, '.git'), ref: 'HEAD', depth: 3 };
    const originals = await isomorphicGit.log(own);
    const rewritten = await isomorphicGit.log({ fs, gitdir: forkPath, ref: banner.branch, depth: 4 });
    expect(rewritten.at(-1)?.oid).toBe(await upstream.tip());
    for (const [index, { commit }] of originals.entries()) {
      const anonymous = rewritten[index]?.commit;
      expect(anonymous).toMatchObject({ tree: commit.tree, message: commit.message });
      expect(anonymous?.author).toMatchObject({
        name: 'gitveil-bot',
        email: 'anonymous@gitveil.invalid',
        timezoneOffset: 0,
      });
      expect(anonymous?.committer).toEqual(anonymous?.author);
      expect(anonymous?.gpgsig).toBeUndefined();
    }
  });

  it('of 500 commits arrive whole', async () => {
    const contribution = await contribute(bed);
    await commitMany(contribution.clone, 500, (index) => `Step ${index}\n\nOne of many.\n`);
    const { commits, pull } = await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(commits).toHaveLength(500);
    expect(pull.title).toBe('Step 499');
  });

  it('lose a commit that differs from another only in who made it', async () => {
    const { clone, upstream } = await contribute(bed);
    const base = await clone.git('rev-parse', 'HEAD');
    const [tree, message] = [await clone.tree(), 'The same work\n'];
    const twins = [
      await clone.commitObject({ tree, parents: [base], message }),
      await clone.commitObject({ tree, parents: [base], message }),
    ];
    expect(twins[0]).not.toBe(twins[1]);
    const tip = await joinHistories(clone, twins, 'join the twins');
    const pushed = await clone.push('origin', `${tip}:refs/heads/twins`);
    expect(pushed.code, pushed.stderr).toBe(0);
    const forkPath = bed.host.forkPath(upstream) as string;
    const [only, joined, ...others] = await readHistory(forkPath, `^${base}`, bannerOf(pushed).branch);
    expect(others).toEqual([]);
    expect([only?.parents, joined?.parents]).toEqual([[base], [only?.oid]]);
  });

  it('hold commits that change nothing', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ files: {}, message: 'Trigger the build\n' });
    await contribution.clone.commit({ files: {}, message: 'Trigger it again\n' });
    const { commits } = await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(commits).toHaveLength(2);
  });

  it('that are all upstream’s already are refused', async () => {
    const { clone, upstream } = await contribute(bed);
    const pushed = await clone.push('origin', 'origin/main~1:refs/heads/nothing-new');
    expect(pushed.code).toBe(1);
    expect(pushed.stderr).toContain('Upstream has everything in this push already. Commit something first.');
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });
});

describe('trees', () => {
  it('keep symbolic links, executable files, submodules, odd names and the empty tree', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    clone.write('tool.sh', '#!/bin/sh\n');
    chmodSync(join(clone.path, 'tool.sh'), 0o755);
    symlinkSync('tool.sh', join(clone.path, 'link'));
    clone.write('größe und leer/日本 "語".txt', Buffer.from([0, 255, 10, 13, 0]));
    clone.write('deep/er/and/deep/er/file', '');
    await clone.commit({ files: {} });
    // The id of someone else's commit, in a repository of its own.
    await clone.git('update-index', '--add', '--cacheinfo', `160000,${'ab'.repeat(20)},vendor/module`);
    await clone.git('commit', '--quiet', '-m', 'Add a submodule');
    await clone.git('rm', '-r', '--quiet', '--cached', '.');
    await clone.git('commit', '--quiet', '-m', 'Remove everything');
    const { forkPath, commits } = await expectAccepted(bed, contribution, await clone.push());
    const listing = await gitIn(forkPath, 'ls-tree', '-r', commits[1]?.oid ?? '');
    expect(listing).toContain(`160000 commit ${'ab'.repeat(20)}\tvendor/module`);
    expect(listing).toMatch(/120000 blob \w+\tlink/);
    expect(listing).toMatch(/100755 blob \w+\ttool\.sh/);
    expect(commits[2]?.tree).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
  });

  it('keep every blob byte for byte', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const files = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [
        `dir${index % 7}/file${index}.txt`,
        `${'line\n'.repeat(index)}${index}`,
      ]),
    );
    await clone.commit({ files });
    const { forkPath, commits } = await expectAccepted(bed, contribution, await clone.push());
    const names = await gitIn(
      forkPath,
      'ls-tree',
      '-r',
      '--format=%(objectname) %(path)',
      commits[0]?.oid ?? '',
    );
    const mine = names.split('\n').filter((line) => line.includes(' dir'));
    expect(mine).toHaveLength(120);
    for (const line of mine.slice(0, 10)) {
      const [oid = '', path = ''] = line.split(' ');
      expect((await readObject(forkPath, oid)).content.toString()).toBe(files[path]);
    }
  });
});

const longMessage = (index: number) =>
  `Step ${index}\n\n${'The same long explanation, over and over again, so that a delta pays off. '.repeat(12)}\n`;

async function deltifiedCommits({ path, person }: Clone, pack: Buffer): Promise<number> {
  const file = join(person.home, 'sent.pack');
  await person.mustGit(path, ['index-pack', '--fix-thin', '--stdin', file], { input: pack });
  const listing = (await person.mustGit(path, ['verify-pack', '-v', file])).toString();
  return listing.split('\n').filter((line) => /^\w{40} commit +(\d+ ){4}\w{40}$/.test(line)).length;
}

/** A clone with a chain of commits that are stored as deltas of each other. */
async function contributeDeltas(): Promise<Contribution> {
  const contribution = await contribute(bed);
  await commitMany(contribution.clone, 40, longMessage);
  await contribution.clone.git('repack', '-adfq', '--window=50', '--depth=50');
  return contribution;
}

/** Objects of a commit on top of main that adds files, with the commit where the caller wants it. */
async function looseObjects({ clone }: Contribution, files: Record<string, Buffer>) {
  const blobs = Object.entries(files).map(([name, content]) => ({ name, content }));
  await clone.git('read-tree', 'origin/main');
  for (const { name, content } of blobs) {
    const oid = await clone.writeObject('blob', content);
    await clone.git('update-index', '--add', '--cacheinfo', `100644,${oid},${name}`);
  }
  const tree = await clone.git('write-tree');
  const parents = [await clone.git('rev-parse', 'origin/main')];
  const commit = await clone.commitObject({ tree, parents, message: 'Behind its files\n' });
  return {
    commit,
    entries: [
      ...blobs.map(({ content }) => ({ kind: 3, content })),
      { kind: 2, content: (await readObject(clone.path, tree)).content },
      { kind: 1, content: (await readObject(clone.path, commit)).content },
    ],
  };
}

describe('packs', () => {
  it.each([
    ['thin', ['--thin']],
    ['not thin', ['--no-thin']],
  ])('with commits as deltas of each other are taken: %s', async (_, args) => {
    const contribution = await contributeDeltas();
    const { clone, person } = contribution;
    const pack = await packOf(clone, ['HEAD', '^origin/main'], '--delta-base-offset', '--thin');
    expect(await deltifiedCommits(clone, pack)).toBeGreaterThan(10);
    const pushed = await clone.push(...args, 'origin', `HEAD:refs/heads/${person.branch}`);
    const { commits } = await expectAccepted(bed, contribution, pushed);
    expect(commits).toHaveLength(40);
  });

  it('with commits as deltas that name their base are taken', async () => {
    const { clone, person, upstream } = await contributeDeltas();
    // Without --delta-base-offset every delta is a ref-delta.
    const pack = await packOf(clone, ['HEAD', '^origin/main'], '--thin');
    expect(await deltifiedCommits(clone, pack)).toBeGreaterThan(10);
    const newId = await clone.git('rev-parse', 'HEAD');
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
    const answer = readPushAnswer(await sendPush(upstream.url, person, body));
    expect(answer.report).toEqual(['unpack ok', 'ok refs/heads/topic']);
    const { branch } = bannerOf({ stderr: answer.progress.map((line) => `remote: ${line}`).join('\n') });
    expect(await readHistory(bed.host.forkPath(upstream) as string, '^main', branch)).toHaveLength(40);
  });

  it('that are thin have their trees and blobs completed from the fork', async () => {
    const content = Array.from({ length: 400 }, (_, index) => `line ${index}\n`).join('');
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'long.txt': content } });
    const person = bed.person();
    const clone = await person.clone(upstream.url);
    await clone.commit({ files: { 'long.txt': content.replace('line 200\n', 'line two hundred\n') } });
    await expectAccepted(bed, { upstream, clone }, await clone.push());
    const [sent] = await bed.host.pushes(upstream);
    expect(sent?.isComplete).toBe(true);
    // The blob travels as a delta of upstream's.
    expect(sent?.fragments.length).toBeGreaterThan(0);
    const blob = sent?.objects.find(({ type }) => type === 'blob');
    expect(blob?.content.toString()).toContain('line two hundred');
  });

  it.each(['0', '1', '9'])('compressed at level %s are taken', async (level) => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.git('config', 'core.compression', level);
    await clone.git('config', 'pack.compression', level);
    await clone.commit({ files: { 'text.txt': 'some text, '.repeat(5_000) } });
    await expectAccepted(bed, contribution, await clone.push());
  });

  it('with the commit behind its files are taken, as long as the files can wait', async () => {
    const contribution = await contribute(bed);
    const { person, upstream } = contribution;
    const { commit, entries } = await looseObjects(contribution, { 'a.bin': randomBytes(2_000_000) });
    const body = pushBody({
      commands: [{ newId: commit, ref: 'refs/heads/topic' }],
      pack: handMadePack(entries),
    });
    const { progress, report } = readPushAnswer(await sendPush(upstream.url, person, body));
    expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
    const stderr = progress.map((line) => `remote: ${line}`).join('\n');
    await expectAccepted(bed, contribution, { code: 0, stdout: '', stderr }, { tip: commit });
  });

  it('with the commit behind more files than can wait are refused, with the reason and a remedy', async () => {
    const contribution = await contribute(bed);
    const { person, upstream } = contribution;
    const [one, two, three] = [1, 2, 3].map(() => randomBytes(9_000_000)) as [Buffer, Buffer, Buffer];
    const { commit, entries } = await looseObjects(contribution, { one, two, three });
    const body = pushBody({
      commands: [{ newId: commit, ref: 'refs/heads/topic' }],
      pack: handMadePack(entries),
    });
    const { progress, report } = readPushAnswer(await sendPush(upstream.url, person, body));
    expect(report[1]).toMatch(/^ng refs\/heads\/topic push rejected: /);
    expect(progress.join('\n')).toMatch(/behind its files|ordinary Git client/);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toEqual([]);
  });
});
