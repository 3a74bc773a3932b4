/**
 * Push options that say what the pull request is to be, and the warning about names in messages.
 */
import { describe, expect, it } from 'vitest';
import { readRef } from '../../../sandbox/bare-repository.ts';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { parseCommit, readHistory, readObjects } from '../support/objects.ts';
import { type Banner, bannerOf, remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const withKey = ({ prHash, prKey }: Banner) => ['-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`];

describe('title, description and base', () => {
  it('take the place of what the commit and the ref say', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'next', from: 'main' });
    await clone.commit({ message: 'wip\n\nNotes to myself.\n' });
    const options = ['-o', 'title=Fix the größe', '-o', 'description=It was wrong.', '-o', 'base=next'];
    const pushed = await clone.push(...options, 'origin', 'HEAD:refs/for/main');
    const { pull } = await expectAccepted(bed, contribution, pushed);
    expect(pull).toMatchObject({ title: 'Fix the größe', body: 'It was wrong.', base: 'next' });
  });

  it('change an open pull request only where an update gives them', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'next', from: 'main' });
    await clone.commit({ message: 'One\n\nText.\n' });
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    const update = (...options: string[]) =>
      clone.push(...withKey(banner), ...options, 'origin', 'HEAD:topic');
    await clone.commit({ message: 'Two\n' });
    expect((await update('-o', 'title=New', '-o', 'base=next')).code).toBe(0);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'New', body: 'Text.', base: 'next' });
    expect(remoteLines(await update('-o', 'description='))).toContain(
      'Your pull request has been updated. Its commits stay the same.',
    );
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'New', body: '', base: 'next' });
  });

  it('that the host refuses to change leave the update as it is, and are named', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ message: 'One\n' });
    const { banner } = await expectAccepted(bed, contribution, await clone.push());
    await clone.commit();
    const answer = { status: 422, body: { message: 'Validation Failed' } };
    bed.sandbox.faults.inject({ method: 'PATCH', path: /\/pulls\/\d+$/, answer });
    const options = [...withKey(banner), '-o', 'title=New'];
    const pushed = await clone.push(...options, 'origin', 'HEAD:topic');
    const { pull } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(pull.title).toBe('One');
    expect(remoteLines(pushed).join('\n')).toMatch(/could not be changed:\n.* says: Validation Failed/);
  });
});

describe('squash', () => {
  it('makes one commit of all new ones: the last files and words, on upstream', async () => {
    const { clone, upstream } = await contribute(bed);
    for (const message of ['One\n', 'Two\n', 'Three\n\nBody.\n']) await clone.commit({ message });
    const pushed = await clone.push('-o', 'squash', 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(pushed.stderr).not.toContain('not a merge');
    const { headSha, title, body } = await bed.host.onlyPull(upstream);
    expect({ title, body }).toEqual({ title: 'Three', body: 'Body.' });
    const commits = await readHistory(bed.host.forkPath(upstream) as string, headSha, '^main');
    expect(commits).toHaveLength(1);
    expect(commits[0]).toMatchObject({ parents: [await upstream.tip()], tree: await clone.tree() });
    expect(commits[0]?.message.toString()).toBe('Three\n\nBody.\n');
  });

  it('leaves out the id of the newest commit where the new words name it', exhaustive, async () => {
    const { clone, upstream } = await contribute(bed);
    for (const message of ['One\n', 'Two\n']) await clone.commit({ message });
    const title = `title=All of ${(await clone.git('rev-parse', 'HEAD')).slice(0, 12)}`;
    const pushed = await clone.push('-o', 'squash', '-o', title, 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const { headSha, title: shown } = await bed.host.onlyPull(upstream);
    expect(shown).toBe(`All of ${headSha.slice(0, 12)}`);
    const [squashed] = await readHistory(bed.host.forkPath(upstream) as string, headSha, '^main');
    expect(squashed?.message.toString()).toBe(`All of ${'0'.repeat(12)}\n`);
  });

  it(
    'takes a history with a merge of upstream in it: the result stands on what was merged',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone, upstream } = contribution;
      await clone.commit();
      const merged = await upstream.grow();
      await clone.git('fetch', '--quiet');
      await clone.git('merge', '--quiet', '-m', 'Merge upstream', 'origin/main');
      const pushed = await clone.push('-o', 'squash', 'origin', 'HEAD:topic');
      expect(pushed.code, pushed.stderr).toBe(0);
      const { branch } = bannerOf(pushed);
      const fork = bed.host.forkPath(upstream) as string;
      const tip = readRef(fork, `refs/heads/${branch}`) as string;
      const [squashed] = await readObjects(fork, [tip]);
      expect(parseCommit(squashed!).headers.filter(([name]) => name === 'parent')).toEqual([
        ['parent', merged],
      ]);
      expect(parseCommit(squashed!).headers[0]?.[1]).toBe(await clone.git('rev-parse', 'HEAD^{tree}'));
    },
  );

  it('or a rebase leaves out what Git has written of a merge, which is refused', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.git('switch', '--quiet', '-c', 'topic-acme-corp-1234');
    await clone.commit({ message: 'My work\n' });
    await upstream.grow();
    await clone.git('fetch', '--quiet');
    await clone.git('merge', '--quiet', '--no-edit', 'origin/main');
    const reason = 'names of your branches or remotes would become public';
    const lines = await expectRefused(bed, upstream, await clone.push(), reason);
    const sentence = "Merge remote-tracking branch 'origin/main' into topic-acme-corp-1234";
    expect(lines).toContain(`  ${sentence}`);
    const squashed = await clone.push('-o', 'squash', 'origin', 'HEAD:topic');
    expect(squashed.code, squashed.stderr).toBe(0);
    expect(remoteLines(squashed)).toContain(
      'The squashed commit has the message of your newest commit that is not a merge.',
    );
    expect((await bed.host.onlyPull(upstream)).title).toBe('My work');
    await clone.git('rebase', '--quiet', 'origin/main');
    const options = ['-o', `pr-hash=${bannerOf(squashed).prHash}`];
    expect((await clone.push(...options, 'origin', 'HEAD:topic')).code).toBe(0);
  });

  it(
    'refuses a history that stands on two branches of upstream which do not hold each other',
    exhaustive,
    async () => {
      const upstream = await bed.createUpstream();
      await upstream.grow({ branch: 'next', from: 'main~1', count: 2 });
      const clone = await bed.person().copy(upstream);
      await clone.commit();
      await clone.git('merge', '--quiet', '-m', 'Merge next', 'origin/next');
      const pushed = await clone.push('-o', 'squash', 'origin', 'HEAD:topic');
      await expectRefused(bed, upstream, pushed, 'the commits cannot be squashed');
    },
  );
});

describe('a warning', () => {
  it('names who is named in the messages, before anything is sent, and keeps them', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    const trailer = 'Signed-off-by: Ada <ada@example.org>';
    await clone.commit({ message: `First\n\n${trailer}\n` });
    await clone.commit({ message: `Second, as bob@example.org said\n\n${trailer}\n` });
    const pushed = await clone.push();
    await expectAccepted(bed, contribution, pushed);
    const lines = remoteLines(pushed);
    const start = lines.indexOf('Your commit messages become public as they are. They name:');
    expect(lines.slice(start + 1, start + 4).map((line) => line.trim())).toEqual([
      trailer,
      'bob@example.org',
      'Sending 2 anonymous commits for "main" ...',
    ]);
  });
});

describe('a fetch as docs/privacy.md advises it', () => {
  it('tells the host of no commit that was not fetched', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const tip = await upstream.grow();
    await clone.git('fetch', '--quiet', '--negotiation-tip=refs/remotes/origin/main', 'origin');
    expect(await clone.git('rev-parse', 'origin/main')).toBe(tip);
  });
});

describe('where the host leaves the account few calls', exhaustive, () => {
  const poor = useOwnTestBed({ callsAnHour: 60 });

  it('previews, which can be repeated without end, are refused before it has none left', async () => {
    const { clone } = await contribute(poor);
    await clone.commit();
    const ends = new Set<string | undefined>();
    for (let time = 0; time < 10; time++)
      ends.add(remoteLines(await clone.push('-o', 'preview', 'origin', 'HEAD:topic')).at(-1));
    expect([...ends]).toEqual([
      'preview: nothing was published',
      'push rejected: the bot account has little left',
    ]);
  });
});
