/** Packs as clients write them: every kind of delta, thin or not, commits first or last. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { contributeDeltas, deltifiedCommits, PACKS } from './shapes/packs.ts';
import { tell } from './shapes/shape.ts';
import { type Contribution, contribute, expectAccepted } from './support/contribution.ts';
import { readObject } from './support/objects.ts';
import { useTestBed } from './support/test-bed.ts';
import { handMadePack, packOf, pushBody, readPushAnswer, sendPush } from './support/wire.ts';

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
      { kind: 2, content: (await readObject(clone.path, tree)).content },
      { kind: 1, content: (await readObject(clone.path, commit)).content },
    ],
  };
}

describe('packs', () => {
  tell(PACKS, bed);

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
    const files = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`${number}`, randomBytes(9_000_000)]));
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
});
