/** Packs as clients write them: every kind of delta, thin or not, commits first or last. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted } from './support/contribution.ts';
import { readHistory, readObject } from './support/objects.ts';
import type { Clone } from './support/person.ts';
import { bannerOf } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';
import { handMadePack, packOf, pushBody, readPushAnswer, sendPush } from './support/wire.ts';

const bed = useTestBed();

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
  await contribution.clone.commitMany(40, longMessage);
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
    const files = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`${number}`, randomBytes(9_000_000)]));
    const { commit, entries } = await looseObjects(contribution, files);
    const body = pushBody({
      commands: [{ newId: commit, ref: 'refs/heads/topic' }],
      pack: handMadePack(entries),
    });
    const { progress, report } = readPushAnswer(await sendPush(upstream.url, person, body));
    expect(report[1]).toMatch(/^ng refs\/heads\/topic push rejected: /);
    expect(progress.join('\n')).toMatch(
      /too many files before its commits or tags\.\n.*pack\.useBitmaps=false/,
    );
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toEqual([]);
  });
});
