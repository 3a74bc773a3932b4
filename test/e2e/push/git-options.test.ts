/**
 * Options of Git, and ways of keeping a repository, with what they come to, as docs/clients.md
 * says.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { isInstalled } from '../../support/is-installed.ts';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { statusTable } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';
import { packOf } from '../support/wire.ts';

const bed = useTestBed();

const PACK_HEADER_BYTES = 12;
const REF_DELTA = 7;
const LONG_MESSAGE = `Explain\n\n${'The same long explanation, so that a delta pays off. '.repeat(20)}\n`;

/** A clone with one commit on a branch of its own. */
async function withTopic(): Promise<Contribution> {
  const contribution = await contribute(bed);
  await contribution.clone.git('switch', '--quiet', '--create', 'topic');
  await contribution.clone.commit();
  return contribution;
}

/** The same, with its pull request open and another commit made. */
async function withUpdate() {
  const contribution = await withTopic();
  const first = await expectAccepted(bed, contribution, await contribution.clone.push('origin', 'topic'));
  await contribution.clone.git('commit', '--quiet', '--amend', '--message=Better');
  return { ...contribution, first, option: `--push-option=pr-hash=${first.banner.prHash}` };
}

describe('git push', exhaustive, () => {
  it.each(['0', '1', '2'])('works with protocol.version=%s', async (version) => {
    const contribution = await withTopic();
    await contribution.clone.git('config', 'protocol.version', version);
    await expectAccepted(bed, contribution, await contribution.clone.push('origin', 'topic'));
  });

  it('--atomic is refused by Git itself; without it the same push is taken', async () => {
    const contribution = await withTopic();
    const pushed = await contribution.clone.push('--atomic', 'origin', 'topic');
    expect(pushed.stderr).toContain('the receiving end does not support --atomic push');
    await expectAccepted(bed, contribution, await contribution.clone.push('origin', 'topic'));
  });

  it('--force-with-lease is taken the first time', async () => {
    const contribution = await withTopic();
    const pushed = await contribution.clone.push('--force-with-lease', 'origin', 'topic');
    await expectAccepted(bed, contribution, pushed);
  });

  it('--force-with-lease does not update, as Git awaits the branch upstream; without it the update is taken', async () => {
    const { first, option, ...contribution } = await withUpdate();
    const { clone } = contribution;
    const leased = await clone.push('--force-with-lease', option, 'origin', 'topic');
    expect(statusTable(leased)).toEqual([' ! [rejected]        topic -> topic (stale info)']);
    const second = await expectAccepted(bed, contribution, await clone.push(option, 'origin', 'topic'));
    expect(second.pull.number).toBe(first.pull.number);
  });

  it('--force-with-lease=<branch>: updates, as it awaits no branch upstream', async () => {
    const { first, option, ...contribution } = await withUpdate();
    const pushed = await contribution.clone.push('--force-with-lease=topic:', option, 'origin', 'topic');
    const second = await expectAccepted(bed, contribution, pushed);
    expect(second.pull.number).toBe(first.pull.number);
  });

  it(':topic is no withdrawal, as Git deletes only what upstream has; :main is one', async () => {
    const { first, option, clone, upstream } = await withUpdate();
    const own = await clone.push(option, 'origin', ':topic');
    const key = `--push-option=pr-key=${first.banner.prKey}`;
    expect(own.stderr).toContain("unable to delete 'topic': remote ref does not exist");
    const pushed = await clone.push(option, key, 'origin', ':main');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ number: first.pull.number, state: 'closed' });
    // Git has forgotten upstream's branch, which is still there.
    expect((await clone.tryGit('rev-parse', '--verify', 'origin/main')).code).not.toBe(0);
    await clone.git('fetch', '--quiet');
    expect(await clone.idOf('origin/main')).toBe(await upstream.tip());
  });

  it('--signed=if-asked pushes without a signature', async () => {
    const contribution = await withTopic();
    const pushed = await contribution.clone.push('--signed=if-asked', 'origin', 'topic');
    await expectAccepted(bed, contribution, pushed);
  });

  it('--all takes the one branch that has something new', async () => {
    const contribution = await withTopic();
    await expectAccepted(bed, contribution, await contribution.clone.push('--all', 'origin'));
  });

  it('--mirror takes the branch, and refuses everything else by name', async () => {
    const contribution = await withTopic();
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'release', from: 'main' });
    const pushed = await clone.push('--mirror', 'origin');
    expect(pushed.code, pushed.stderr).toBe(1);
    expect(statusTable(pushed)).toContain(' * [new branch]      topic -> topic');
    expect(statusTable(pushed).join('\n')).toMatch(/origin\/main \(only branches are accepted\)/);
    await expectAccepted(bed, contribution, { ...pushed, code: 0 });
    expect(await upstream.git('for-each-ref', '--format=%(refname:short)')).toBe('main\nrelease');
  });

  it('with push.negotiate=true is taken, and tells the host no id of a commit', async () => {
    const contribution = await withTopic();
    await contribution.clone.git('config', 'push.negotiate', 'true');
    // Not `push`, which gives Git another name: the negotiation is a fetch, and relayed with the
    // client's name.
    const pushed = await contribution.clone.tryGit('push', 'origin', 'topic');
    await expectAccepted(bed, contribution, pushed);
  });

  it('to an address with a password in it leaves the password with the client', async () => {
    const contribution = await withTopic();
    const { clone, person, upstream } = contribution;
    const url = upstream.url.replace('http://', `http://${person.word}:secret-${person.word}@`);
    await clone.git('remote', 'set-url', 'origin', url);
    await expectAccepted(bed, contribution, await clone.push('origin', 'topic'));
  });

  it.each([
    ['65536', ''],
    ['104857600', ''],
    ['65536', 'Expect: 100-continue'],
    ['104857600', 'Expect: 100-continue'],
  ])('with http.postBuffer=%s is taken %s', async (bytes, header) => {
    const contribution = await withTopic();
    const { clone } = contribution;
    await clone.commit({
      files: { 'large.txt': 'a line\n'.repeat(400_000), 'random.bin': randomBytes(3_000_000) },
    });
    await clone.git('config', 'http.postBuffer', bytes);
    if (header !== '') await clone.git('config', 'http.extraHeader', header);
    await expectAccepted(bed, contribution, await clone.push('origin', 'topic'));
  });
});

describe('a push from', exhaustive, () => {
  it('a work tree beside the clone is taken', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    const path = join(person.home, 'beside');
    await clone.git('worktree', 'add', '--quiet', '-b', 'topic', path);
    await person.mustGit(path, ['commit', '--quiet', '--allow-empty', '--message=Work beside']);
    const pushed = await person.git(path, ['push', 'origin', 'topic'], {
      env: { GIT_USER_AGENT: person.userAgent },
    });
    await expectAccepted(bed, contribution, pushed, { tip: 'topic' });
  });

  it('a bare clone whose packs have a bitmap is refused, and taken with pack.useBitmaps=false', async () => {
    const { bare, upstream } = await withBitmap();
    const refused = await bare.push('origin', 'topic');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('git -c pack.useBitmaps=false push');
    await bare.git('config', 'pack.useBitmaps', 'false');
    const pushed = await bare.push('origin', 'topic');
    await expectAccepted(bed, { upstream, clone: bare }, pushed, { tip: 'topic' });
  });
});

describe.skipIf(!isInstalled('git-lfs'))('git lfs', exhaustive, () => {
  it('does not push, as the service takes no large files; GIT_LFS_SKIP_PUSH=1 pushes without them', async () => {
    const contribution = await contribute(bed);
    const { clone, person } = contribution;
    await clone.git('lfs', 'install', '--local');
    await clone.git('lfs', 'track', '*.bin');
    await clone.commit({ files: { 'large.bin': randomBytes(10_000) } });
    const pushed = await clone.tryGit('push', 'origin', 'HEAD:refs/heads/topic');
    expect(pushed.code, pushed.stderr).toBe(1);
    expect(pushed.stderr).toMatch(/lfs/i);
    expect(await bed.host.pulls(contribution.upstream)).toEqual([]);
    const skipped = await person.git(clone.path, ['push', 'origin', 'HEAD:refs/heads/topic'], {
      env: { GIT_LFS_SKIP_PUSH: '1' },
    });
    await expectAccepted(bed, contribution, skipped);
  });

  it('does not clone what upstream keeps in it; GIT_LFS_SKIP_SMUDGE=1 clones without', async () => {
    const upstream = await bed.createUpstream();
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'ab'.repeat(32)}\nsize 9\n`;
    await upstream.grow({ files: { '.gitattributes': '*.bin filter=lfs -text\n', 'large.bin': pointer } });
    const person = bed.person();
    await person.mustGit(person.home, ['lfs', 'install', '--skip-repo']);
    const cloned = await person.git(person.home, ['clone', upstream.url, 'with']);
    expect(cloned.stderr).toContain('Clone succeeded, but checkout failed');
    await person.mustGit(person.home, ['clone', upstream.url, 'without'], {
      env: { GIT_LFS_SKIP_SMUDGE: '1' },
    });
    expect(readFileSync(join(person.home, 'without/large.bin'), 'utf8')).toBe(pointer);
  });
});

/**
 * A bare clone from which Git sends the new commit as a stored delta against one that only upstream
 * has.
 */
async function withBitmap() {
  const upstream = await bed.createUpstream({ commits: 0 });
  await upstream.grow({ count: 30, message: LONG_MESSAGE });
  const person = bed.person();
  const bare = await person.clone(upstream.url, '--bare');
  const tree = await bare.git('rev-parse', 'main~1^{tree}');
  const parents = [await bare.git('rev-parse', 'main')];
  // Shorter than upstream's messages: Git makes small objects deltas of larger ones.
  const tip = await bare.commitObject({ tree, parents, message: LONG_MESSAGE.slice(0, 600) });
  await bare.git('update-ref', 'refs/heads/topic', tip);
  await bare.git('repack', '-adbfq', '--window=50', '--depth=50');
  const [first] = (await packOf(bare, ['topic', '^main'], '--thin')).subarray(PACK_HEADER_BYTES);
  expect(((first as number) >> 4) & 7, 'the commit is sent as a delta').toBe(REF_DELTA);
  return { bare, upstream };
}
