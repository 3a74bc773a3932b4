/**
 * Reference discovery for a push (contract, 4.5): what a client is told before it sends anything.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { send } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readPkts } from '../../support/pkt-line.ts';

const bed = useTestBed();

const discover = (url: string) => send(`${url}/info/refs?service=git-receive-pack`, { person: bed.person() });

interface Advertised {
  readonly refs: Readonly<Record<string, string>>;
  readonly haves: readonly string[];
}

async function advertised({ url }: Upstream): Promise<Advertised> {
  const { body } = await discover(url);
  const lines = readPkts(body)
    .slice(2, -1)
    .map((packet) => (packet?.toString() ?? '').replace(/\n$/, '').replace(/\0.*/, ''));
  const pairs = lines.map((line) => line.split(' ') as [oid: string, name: string]);
  return {
    refs: Object.fromEntries(pairs.filter(([, name]) => name !== '.have').map(([oid, name]) => [name, oid])),
    haves: pairs.filter(([, name]) => name === '.have').map(([oid]) => oid),
  };
}

describe('discovery for push', () => {
  it('lists the branches and tags of upstream, and nothing else', async () => {
    const upstream = await bed.createUpstream();
    const main = await upstream.tip();
    const side = await upstream.grow({ branch: 'side/way', from: 'main~1' });
    await upstream.git('tag', 'v1', 'main~1');
    await upstream.git(
      '-c',
      'user.name=M',
      '-c',
      'user.email=m@x.example',
      'tag',
      '-a',
      '-m',
      'Two',
      'v2',
      'main',
    );
    await upstream.git('update-ref', 'refs/pull/1/head', main);
    await upstream.git('update-ref', 'refs/notes/commits', main);
    const { refs } = await advertised(upstream);
    expect(refs).toEqual({
      'refs/heads/main': main,
      'refs/heads/side/way': side,
      'refs/tags/v1': await upstream.tip('v1'),
      'refs/tags/v2': await upstream.tip('refs/tags/v2'),
    });
  });

  it('names recent commits as .have, each once, and none that a ref names already', async () => {
    const upstream = await bed.createUpstream({ commits: 5 });
    const { refs, haves } = await advertised(upstream);
    const all = (await upstream.git('rev-list', 'main')).split('\n');
    expect(haves.toSorted()).toEqual(all.slice(1).toSorted());
    expect(haves).not.toContain(refs['refs/heads/main']);
  });

  it('lets a clone that is three commits behind send only its own objects', exhaustive, async () => {
    const contribution = await contribute(bed, { commits: 20 });
    const { upstream, clone } = contribution;
    await upstream.grow({ count: 3 });
    await clone.commit({ files: { 'mine.txt': 'mine\n' } });
    const pushed = await clone.push();
    await expectAccepted(bed, contribution, pushed);
    const [sent] = await bed.host.pushes(upstream);
    // One commit, the root tree, one blob.
    expect(sent?.announcedObjects).toBe(3);
    expect(sent?.objects.map(({ type }) => type).toSorted()).toEqual(['blob', 'commit', 'tree']);
  });

  it(
    'lists what a contributed repository has got meanwhile, so that the push need not wait for it',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { upstream, clone } = contribution;
      await clone.commit();
      await expectAccepted(bed, contribution, await clone.push());
      await upstream.grow();
      await upstream.grow({ branch: 'side', from: 'main~2' });
      const asked = () => bed.host.requestsFor(upstream, 'POST', /\/git-upload-pack$/).length;
      const before = asked();
      await discover(upstream.url);
      // The refs, main and the other branch.
      await expect.poll(asked).toBe(before + 3);
      await clone.commit();
      await expectAccepted(bed, contribution, await clone.push('origin', 'HEAD:again'));
      // The refs once more, and the commit that its two stand on.
      expect(asked()).toBe(before + 5);
    },
  );

  it('takes the name with .git behind it, too', async () => {
    const upstream = await bed.createUpstream({ commits: 1 });
    const [plain, dotted] = [await discover(upstream.url), await discover(`${upstream.url}.git`)];
    expect(dotted.body.equals(plain.body)).toBe(true);
  });

  it('answers 404 for a private repository, and Git asks for no password', async () => {
    const name = 'unseen-private';
    await bed.createUpstream({ name, private: true });
    const { clone, person } = await contribute(bed);
    await clone.commit();
    const url = bed.remoteUrl('octo', name);
    const answer = await discover(url);
    expect(answer.status).toBe(404);
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expect(answer.body.toString()).toBe(`octo/${name} does not exist, or is not public.\n`);

    const pushed = await clone.push(url, 'HEAD:refs/heads/fix');
    expect(pushed.code).toBe(128);
    expect(pushed.stderr).toContain(`octo/${name} does not exist, or is not public.`);
    expect(pushed.stderr).toMatch(/repository '.*' not found/);
    expect(person.wasAskedForPassword).toBe(false);
  });
});
