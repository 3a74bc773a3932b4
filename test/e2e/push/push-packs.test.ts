/** Packs as clients write them: every kind of delta, thin or not, commits first or last. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { buildPack, type Entry, makeDelta, type ObjectType, oidOf } from '../../support/pack-builder.ts';
import { contributeDeltas, deltifiedCommits } from '../shapes/packs.ts';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { readObject, readObjects } from '../support/objects.ts';
import { useTestBed } from '../support/test-bed.ts';
import { handMadePack, packOf, pushBody, readPushAnswer, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

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
      { kind: 2, content: (await readObject(clone.gitFolder, tree)).content },
      { kind: 1, content: (await readObject(clone.gitFolder, commit)).content },
    ],
  };
}

function deltaOf(base: Uint8Array, content: Uint8Array): Entry {
  return { type: 'ref-delta', base: oidOf('commit', base), delta: makeDelta(base, content) };
}

describe('packs', exhaustive, () => {
  it.each([
    ['thin', ['--thin']],
    ['not thin', ['--no-thin']],
  ])('with commits as deltas of each other are taken: %s', async (_, args) => {
    const contribution = await contributeDeltas(bed);
    const { clone, person } = contribution;
    const pack = await packOf(clone, ['HEAD', '^origin/main'], '--delta-base-offset', '--thin');
    expect(await deltifiedCommits(clone, pack)).toBeGreaterThan(10);
    const pushed = await clone.push(...args, 'origin', `HEAD:refs/heads/${person.branch}`);
    const { commits } = await expectAccepted(bed, contribution, pushed);
    expect(commits).toHaveLength(40);
  });

  it.each(['0', '1', '9'])('compressed at level %s are taken', async (level) => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.git('config', 'core.compression', level);
    await clone.git('config', 'pack.compression', level);
    await clone.commit({ files: { 'text.txt': 'some text, '.repeat(5_000) } });
    await expectAccepted(bed, contribution, await clone.push());
  });

  it('with the commit behind its files are taken, however many there are', async () => {
    const contribution = await contribute(bed);
    const { person, upstream } = contribution;
    const files = Object.fromEntries([1, 2, 3, 4].map((number) => [`${number}`, randomBytes(9_000_000)]));
    const { commit, entries } = await looseObjects(contribution, files);
    const body = pushBody({
      commands: [{ newId: commit, ref: 'refs/heads/topic' }],
      pack: handMadePack(entries),
    });
    const { progress, report } = readPushAnswer(await sendPush(upstream.url, person, body));
    expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
    const stderr = progress.map((line) => `remote: ${line}`).join('\n');
    await expectAccepted(bed, contribution, { code: 0, stdout: '', stderr }, { tip: commit });
  });

  it.each([
    ['of their parents, which come later, are taken', false],
    ['of each other are refused with a sentence', true],
  ])('with commits as deltas %s', async (_, isCircle) => {
    const contribution = await contribute(bed);
    const { clone, person, upstream } = contribution;
    for (let number = 1; number <= 3; number++) await clone.commit();
    const tip = await clone.idOf('HEAD');
    const listed = await clone.git('rev-list', '--objects', 'HEAD', '^origin/main');
    const objects = await readObjects(
      clone.gitFolder,
      listed.split('\n').map((line) => line.split(' ')[0] as string),
    );
    const [newest, ...parents] = objects.filter(({ type }) => type === 'commit');
    const commits = [newest!, ...parents].map(({ content }, at): Entry => {
      const base = parents[at]?.content ?? (isCircle ? newest?.content : undefined);
      return base === undefined ? { type: 'commit', content } : deltaOf(base, content);
    });
    const files = objects
      .filter(({ type }) => type !== 'commit')
      .map(({ type, content }) => ({ type: type as ObjectType, content }));
    const { bytes: pack } = buildPack([...commits.slice(0, 2), ...files, ...commits.slice(2)]);
    const body = pushBody({ commands: [{ newId: tip, ref: 'refs/heads/topic' }], pack });
    const { progress, report, errors } = readPushAnswer(await sendPush(upstream.url, person, body));
    if (isCircle) {
      expect(errors).toEqual(['push rejected: the commits cannot be made anonymous']);
      expect(progress.join('\n')).toContain('stores a commit as a delta of one that it does not contain, or');
      expect(await bed.host.pulls(upstream)).toEqual([]);
      return;
    }
    expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
    const stderr = progress.map((line) => `remote: ${line}`).join('\n');
    const accepted = await expectAccepted(bed, contribution, { code: 0, stdout: '', stderr });
    expect(accepted.commits).toHaveLength(3);
  });
});
