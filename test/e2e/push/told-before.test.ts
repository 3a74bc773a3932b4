/**
 * Tells a person, before a push is public, what it is taken for: its base, its title, its options.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { remoteLines, withoutSecrets } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();

/** A repository with a branch for a release, and a clone in which it is checked out. */
async function onRelease() {
  const contribution = await contribute(bed);
  const { upstream, clone } = contribution;
  await upstream.grow({ branch: 'release-1.x', from: 'main~1', count: 2, ageDays: 2 });
  await clone.git('fetch', '--quiet', 'origin');
  await clone.git('switch', '--quiet', '--detach', 'origin/release-1.x');
  return contribution;
}

async function commitEncoded(
  { clone }: Pick<Awaited<ReturnType<typeof contribute>>, 'clone'>,
  encoding: string | null,
  hex: string,
): Promise<void> {
  const tree = await clone.git('rev-parse', 'HEAD^{tree}');
  const parents = [await clone.git('rev-parse', 'HEAD')];
  const message = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const headers = encoding === null ? [] : [`encoding ${encoding}`];
  await clone.git(
    'reset',
    '--quiet',
    '--soft',
    await clone.commitObject({ tree, parents, message, headers }),
  );
}

describe('the base', () => {
  const FOR_RELEASE =
    'Your work is based on "release-1.x", so the pull request is for that branch. For another one, add: -o base=<branch>';

  it(
    'is the release that the work stands on, which the first warning says, and the one before it opens',
    exhaustive,
    async () => {
      const contribution = await onRelease();
      const { clone } = contribution;
      await clone.commit();
      const preview = remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:refs/heads/fix'));
      expect(preview[0]).toBe(FOR_RELEASE);
      expect(preview).toContain('  Base:        release-1.x');
      const pushed = await clone.push('origin', 'HEAD:refs/heads/fix');
      const { pull, commits } = await expectAccepted(bed, contribution, pushed);
      expect(pull.base).toBe('release-1.x');
      expect(commits).toHaveLength(1);
      expect(withoutSecrets(pushed)[0]).toBe(FOR_RELEASE);
      expect(remoteLines(pushed)).toContain('Sending 1 anonymous commit for "release-1.x" ...');
    },
  );

  it(
    'is the default branch where two branches hold the commit that the work stands on',
    exhaustive,
    async () => {
      const contribution = await onRelease();
      const { clone, upstream } = contribution;
      await upstream.grow({ branch: 'release-1.1', from: 'release-1.x', ageDays: 1 });
      await clone.commit();
      const pushed = await clone.push('origin', 'HEAD:refs/heads/fix');
      expect((await expectAccepted(bed, contribution, pushed)).pull.base).toBe('main');
    },
  );

  it('is named with a topic behind it: refused, with what to push to', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    for (const ref of ['refs/for/main/my-topic', 'refs/for/main%topic=mine']) {
      const pushed = await clone.push('origin', `HEAD:${ref}`);
      const lines = await expectRefused(bed, upstream, pushed, 'there is no such base branch');
      expect(lines.join('\n')).toMatch(
        /Did you mean "main"\?\n\nPush again with:\n {2}git push -o base=main /,
      );
    }
  });

  it(
    'may be named where the default branch does not exist; if not, the branches are told',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone, upstream } = contribution;
      await upstream.grow({ branch: 'develop', from: 'main' });
      await upstream.git('symbolic-ref', 'HEAD', 'refs/heads/gone');
      await clone.commit();
      const refused = await clone.push('origin', 'HEAD:refs/heads/fix');
      const lines = await expectRefused(bed, upstream, refused, 'there is no default branch');
      expect(lines).toContain(
        `The default branch of ${upstream.fullName} does not exist. It has "develop", "main".`,
      );
      const pushed = await clone.push('origin', 'HEAD:refs/for/main');
      expect((await expectAccepted(bed, contribution, pushed)).pull.base).toBe('main');
    },
  );
});

it(
  'a base is enough also where the fork’s default branch does not exist either, as that of upstream',
  exhaustive,
  async () => {
    const upstream = await bed.createUpstream({ defaultBranch: 'gone' });
    await upstream.git('branch', '-m', 'gone', 'main');
    await upstream.git('symbolic-ref', 'HEAD', 'refs/heads/gone');
    const clone = await bed.person().copy(upstream, 'main');
    await clone.commit();
    const push = () => clone.push('origin', 'HEAD:refs/for/main');
    const { pull, banner } = await expectAccepted(bed, { upstream, clone }, await push());
    expect(pull.base).toBe('main');
    // Another branch, which the fork lacks.
    await upstream.grow({ branch: 'next', from: 'main', count: 2 });
    const other = await bed.person().copy(upstream, 'next');
    await other.commit();
    const second = await expectAccepted(
      bed,
      { upstream, clone: other },
      await other.push('origin', 'HEAD:refs/for/next'),
    );
    expect(second.banner.prHash).not.toBe(banner.prHash);
  },
);

describe('the title', () => {
  it('is that of the last commit that merges nothing', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ message: 'Mend the gate\n\nIt hung.\n' });
    await upstream.grow();
    await clone.git('fetch', '--quiet', 'origin');
    await clone.git('merge', '--quiet', '--no-edit', 'origin/main');
    const { pull } = await expectAccepted(
      bed,
      contribution,
      await clone.push('origin', 'HEAD:refs/heads/fix'),
    );
    expect(pull).toMatchObject({ title: 'Mend the gate', body: 'It hung.' });
  });

  it('is read in the encoding that the commit names', exhaustive, async () => {
    const contribution = await contribute(bed);
    await commitEncoded(contribution, 'cp932', '93 fa 96 7b 8c ea');
    const { pull } = await expectAccepted(
      bed,
      contribution,
      await contribution.clone.push('origin', 'HEAD:refs/heads/fix'),
    );
    expect(pull.title).toBe('日本語');
  });

  it('that cannot be read is told before, with the option that gives another', async () => {
    const { clone, ...contribution } = await contribute(bed);
    await commitEncoded({ clone }, 'CP437', '63 61 66 82');
    const line = `The title is not readable: the message of your commit is in CP437, which the service cannot read. Give another one: -o title=<title>`;
    expect(remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:refs/heads/fix'))).toContain(line);
    const pushed = await clone.push('-o', 'title=Coffee', 'origin', 'HEAD:refs/heads/fix');
    expect((await expectAccepted(bed, { ...contribution, clone }, pushed)).pull.title).toBe('Coffee');
    expect(remoteLines(pushed)).not.toContain(line);
  });
});

it('a message with NUL, which hosts refuse, is refused before anything is made there', async () => {
  const { clone, upstream } = await contribute(bed);
  const tree = await clone.git('rev-parse', 'HEAD^{tree}');
  const parents = [await clone.git('rev-parse', 'HEAD')];
  await clone.git(
    'reset',
    '--quiet',
    '--soft',
    await clone.commitObject({ tree, parents, message: 'One\0Two\n' }),
  );
  const lines = await expectRefused(bed, upstream, await clone.push(), 'a message holds a NUL character');
  expect(lines).toContain(
    'Code hosts refuse such commits. Change the message of "OneTwo": "git commit --amend" or "git rebase -i".',
  );
  expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$|\/forks$/)).toEqual([]);
});

/** A clone in which pull request 77, of two commits, is checked out. */
async function on77() {
  const contribution = await contribute(bed);
  const { upstream, clone } = contribution;
  const tip = await upstream.grow({ branch: 'theirs', from: 'main', count: 2, ageDays: 1 });
  await upstream.git('update-ref', 'refs/pull/77/head', tip);
  await upstream.git('update-ref', '-d', 'refs/heads/theirs');
  await clone.git('fetch', '--quiet', 'origin', 'refs/pull/77/head');
  return { ...contribution, tip };
}

describe('the pull request of somebody else', () => {
  it('that the work stands on is named, with how many of its commits go out again', async () => {
    const { clone, upstream } = await on77();
    await clone.git('reset', '--quiet', '--hard', 'FETCH_HEAD');
    await clone.commit();
    const line = `2 of the 3 commits are of ${upstream.fullName}#77, and would be published again in the name of the bot.`;
    const preview = await clone.push(
      '-o',
      'preview',
      '-o',
      'publish-names',
      'origin',
      'HEAD:refs/heads/more',
    );
    expect(remoteLines(preview)[0]).toBe(line);
  });

  it('may be named by a commit that was picked from it', exhaustive, async () => {
    const { clone, tip, ...contribution } = await on77();
    await clone.commit({ message: `Pick it\n\n(cherry picked from commit ${tip})\n` });
    const pushed = await clone.push('origin', 'HEAD:refs/heads/picked');
    await expectAccepted(bed, { ...contribution, clone }, pushed);
  });
});

it('an address without /v1 is answered with how addresses begin', async () => {
  const { upstream, person } = await contribute(bed);
  const url = upstream.url.replace(/\/v1\/\w+\//, '/');
  const { code, stderr } = await person.git('/', ['clone', url, 'nowhere']);
  expect(code).toBe(128);
  expect(remoteLines({ stderr })[0]).toContain('Did you mean: git clone ');
  expect(remoteLines({ stderr })[1]).toContain('Addresses of repositories begin here with /v1/gh/ for ');
});
