/** Clone, fetch, and pushes of one branch from clones of every kind. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Contributor } from '../support/contributor.ts';
import { type Act, MiB, type Story, TOPIC, withLargeFiles, withTopic } from './story.ts';

async function expectSame({ clone, upstream }: Contributor, branch: string): Promise<void> {
  expect(await clone.git('rev-parse', `refs/remotes/origin/${branch}`)).toBe(await upstream.tip(branch));
}

const toRelease =
  (refspec: string, options: readonly string[]): Act =>
  async (bed, client) => {
    const at = await withTopic(bed, client);
    await at.upstream.grow({ branch: 'release', from: 'main~1' });
    const { pull } = await at.expectAccepted(await at.push([refspec], options));
    expect(pull.base).toBe('release');
  };

const pushLarge =
  (fileBytes: number): Act =>
  async (bed, client) => {
    const at = await withLargeFiles(bed, client, fileBytes);
    await at.expectAccepted(await at.push([TOPIC]));
  };

export const transfers: readonly Story[] = [
  {
    name: 'clone',
    async act(bed, client) {
      const at = await Contributor.start(bed, client, { upstream: { commits: 40 } });
      expect(await at.clone.git('rev-parse', 'HEAD')).toBe(await at.upstream.tip());
      expect(await at.clone.git('status', '--porcelain')).toBe('');
      await at.clone.git('fsck', '--strict', '--no-dangling');
    },
  },
  {
    name: 'shallow clone',
    async act(bed, client) {
      const at = await Contributor.start(bed, client, { depth: 1 });
      expect(await at.clone.git('rev-parse', 'HEAD')).toBe(await at.upstream.tip());
      expect(existsSync(join(at.clone.path, '.git/shallow'))).toBe(true);
      expect(await at.clone.git('rev-list', '--count', 'HEAD')).toBe('1');
    },
  },
  {
    name: 'fetch',
    async act(bed, client) {
      const at = await Contributor.start(bed, client);
      await at.upstream.grow({ count: 3 });
      await at.upstream.grow({ branch: 'release', from: 'main~1' });
      await at.fetch();
      await expectSame(at, 'main');
      await expectSame(at, 'release');
    },
  },
  {
    // A client names its own commits in the negotiation: they are kept from the host, and the fetch
    // works all the same.
    name: 'fetch beside commits of their own',
    async act(bed, client) {
      const at = await withTopic(bed, client);
      await at.upstream.grow({ count: 3 });
      await at.fetch();
      await expectSame(at, 'main');
    },
  },
  {
    name: 'push of one commit',
    async act(bed, client) {
      const at = await withTopic(bed, client);
      const { pull, commits } = await at.expectAccepted(await at.push([TOPIC]));
      expect(pull).toMatchObject({ title: 'Change something', base: 'main' });
      expect(commits).toHaveLength(1);
    },
  },
  {
    // JGit compresses pushes up to a megabyte once more. Hardly anything shrinks as much as this.
    name: 'push of a thousand tiny files',
    async act(bed, client) {
      const at = await Contributor.start(bed, client);
      await at.switchTo('topic');
      for (let file = 0; file < 1_000; file++)
        at.write(`tiny/${file % 20}/${file}`, Buffer.from(`${file}\n`));
      await at.commit();
      await at.expectAccepted(await at.push([TOPIC]));
    },
  },
  {
    name: 'push of thirty commits with a merge',
    async act(bed, client) {
      const at = await Contributor.start(bed, client);
      await at.switchTo('topic');
      await at.commit({ count: 5 });
      await at.switchTo('side');
      await at.commit({ count: 14, message: 'Step aside' });
      await at.switchTo('topic');
      await at.commit({ count: 10, message: 'Go on' });
      await at.merge('side');
      const { pull, commits } = await at.expectAccepted(await at.push([TOPIC]));
      // The last commit that is no merge has the title.
      expect(pull.title).toBe('Go on 10');
      expect(commits).toHaveLength(30);
      expect(commits.filter(({ parents }) => parents.length === 2)).toHaveLength(1);
    },
  },
  {
    name: 'push of 10 MB',
    act: pushLarge(2 * MiB),
  },
  {
    // Node's HTTP client gives up after five silent seconds, and isomorphic-git then reads an empty
    // report.
    name: 'push to a slow code host',
    async act(bed, client) {
      const at = await withTopic(bed, client);
      bed.sandbox.faults.inject({ method: 'POST', path: /git-receive-pack$/, delayMs: 6_000 });
      await at.expectAccepted(await at.push([TOPIC]));
    },
  },
  {
    name: 'push from a stale clone',
    async act(bed, client) {
      const at = await withTopic(bed, client);
      await at.upstream.grow({ count: 5 });
      await at.expectAccepted(await at.push([TOPIC]));
    },
  },
  {
    name: 'push from a shallow clone',
    async act(bed, client) {
      const at = await withTopic(bed, client, 1);
      await at.expectAccepted(await at.push([TOPIC]));
    },
  },
  {
    name: 'push from a shallow clone that is stale',
    async act(bed, client) {
      const at = await withTopic(bed, client, 1);
      await at.upstream.grow({ count: 5 });
      await at.expectAccepted(await at.push([TOPIC]));
    },
  },
  {
    name: 'push for another branch of upstream',
    act: toRelease('refs/heads/topic:refs/for/release', []),
    needs: { 'refs/for': { name: 'it says -o base=<branch>', act: toRelease(TOPIC, ['base=release']) } },
  },
  {
    name: 'nothing new',
    async act(bed, client) {
      const at = await Contributor.start(bed, client);
      await at.expectRefused(await at.push(['refs/heads/main:refs/heads/topic']), /nothing to propose/);
    },
  },
  {
    name: 'push to the old name of a renamed repository',
    async act(bed, client) {
      const at = await withTopic(bed, client);
      const renamed = bed.renameUpstream(at.upstream, `${at.upstream.name}-renamed`);
      await at.expectAccepted(await at.push([TOPIC]), 'HEAD', renamed);
    },
  },
];
