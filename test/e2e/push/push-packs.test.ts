/** A pack as some clients write it: with its commits last. How Git writes them: pack-oracle.test.ts. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { buildPack } from '../../support/pack-builder.ts';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { readObject } from '../support/objects.ts';
import { useTestBed } from '../support/test-bed.ts';
import { pushBody, readPushAnswer, sendPush } from '../support/wire.ts';
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
      ...blobs.map(({ content }) => ({ type: 'blob' as const, content, zlib: { level: 0 } })),
      { type: 'tree' as const, content: (await readObject(clone.gitFolder, tree)).content },
      { type: 'commit' as const, content: (await readObject(clone.gitFolder, commit)).content },
    ],
  };
}

describe('packs', exhaustive, () => {
  it('with the commit behind its files are taken, however many there are', async () => {
    const contribution = await contribute(bed);
    const { person, upstream } = contribution;
    const files = Object.fromEntries([1, 2, 3, 4].map((number) => [`${number}`, randomBytes(9_000_000)]));
    const { commit, entries } = await looseObjects(contribution, files);
    const body = pushBody({
      commands: [{ newId: commit, ref: 'refs/heads/topic' }],
      pack: buildPack(entries).bytes,
    });
    const { progress, report } = readPushAnswer(await sendPush(upstream.url, person, body));
    expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
    const stderr = progress.map((line) => `remote: ${line}`).join('\n');
    await expectAccepted(bed, contribution, { code: 0, stdout: '', stderr }, { tip: commit });
  });
});
