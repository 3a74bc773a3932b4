/**
 * Clones of every age and depth: which commits of a push are the person's own and which are
 * upstream's, and that no original commit gets into the pull request through its parents.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { useTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, send, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { readReport } from '../../support/pkt-line.ts';

const bed = useTestBed();

const UNPROVEN = 'fetch first';

describe('a stale clone', exhaustive, () => {
  it('may send commits that upstream has: they keep their ids', async () => {
    const { clone, person, upstream } = await contribute(bed, { commits: 12 });
    await clone.commit();
    await clone.commit();
    const newId = await clone.git('rev-parse', 'HEAD');
    // All of the history, as a client without a word of ours would send it.
    const pack = await packOf(clone, ['HEAD']);
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
    const { progress, report } = readReport((await sendPush(upstream.url, person, body)).body);
    expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
    const stderr = progress.map((line) => `remote: ${line}`).join('\n');
    await expectAccepted(bed, { upstream, clone }, { code: 0, stdout: '', stderr });
    const [sent] = await bed.host.pushes(upstream);
    // Upstream's commits need not travel again; the new ones do.
    expect(sent?.objects.filter(({ type }) => type === 'commit')).toHaveLength(2);
  });

  it('of two years ago is proved by listing further back, and sends its work', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    // Older than what is asked about, then up to last week.
    await upstream.grow({ count: 40, ageDays: 730, stepDays: 3 });
    const person = bed.person();
    const clone = await person.copy(upstream);
    await upstream.grow({ count: 100, ageDays: 7, stepDays: 7 });
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:refs/heads/old-clone');
    const { commits } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(commits).toHaveLength(1);
  });

  it('of an upstream that woke up after years is taken', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    await upstream.grow({ count: 20, ageDays: 3 * 365, stepDays: 10 });
    const clone = await bed.person().copy(upstream);
    await upstream.grow({ count: 2, ageDays: 3, stepDays: 1 });
    await clone.commit();
    const { commits } = await expectAccepted(bed, { upstream, clone }, await clone.push());
    expect(commits).toHaveLength(1);
  });
});

describe('a push whose discovery this isolate has not seen', exhaustive, () => {
  it('is taken though upstream has moved on since the last one that it has', async () => {
    const upstream = await bed.createUpstream();
    await bed.person().clone(upstream.url);
    await send(`${upstream.url}/info/refs?service=git-receive-pack`);
    await upstream.grow({ count: 2 });
    const person = bed.person();
    const clone = await person.copy(upstream);
    await clone.commit();
    const newId = await clone.idOf('HEAD');
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
    const { report } = readReport((await sendPush(upstream.url, person, body)).body);
    expect(report).toEqual(['unpack ok', 'ok refs/heads/topic']);
  });
});

describe('an upstream whose dates make no sense', exhaustive, () => {
  it('because parents are younger than their children, is pushed to all the same', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    await upstream.grow({ count: 3, ageDays: 1 });
    await upstream.grow({ count: 3, ageDays: 2_000, stepDays: 1 });
    const middle = await upstream.tip('main~1');
    await upstream.grow({ count: 2, ageDays: 2 });
    const clone = await bed.person().copy(upstream);
    await clone.git('switch', '--quiet', '-c', 'topic', middle);
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push());
  });
});

describe('work that stands on another branch', exhaustive, () => {
  it('is taken at an older commit pushed under a name of its own', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.grow({ branch: 'next', from: 'main~1', count: 3 });
    await clone.git('fetch', '--quiet');
    await clone.git('switch', '--quiet', '-c', 'topic', 'origin/next~1');
    await clone.commit();
    const { pull, commits } = await expectAccepted(bed, contribution, await clone.push());
    expect(pull.base).toBe('next');
    expect(commits).toHaveLength(1);
  });

  it('keeps the commits of that branch when it rests since years', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ branch: 'next', from: 'main~1', count: 3, ageDays: 800 });
    const clone = await bed.person().copy(upstream, 'next');
    await upstream.grow({ branch: 'next', count: 2, ageDays: 790 });
    await clone.commit();
    const { commits } = await expectAccepted(
      bed,
      { upstream, clone },
      await clone.push('origin', 'HEAD:topic'),
    );
    expect(commits).toHaveLength(1);
  });

  it('is taken at a tag', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await upstream.git('tag', 'v1', await upstream.grow({ branch: 'release', from: 'main~1', count: 2 }));
    await upstream.git('update-ref', '-d', 'refs/heads/release');
    await clone.git('fetch', '--quiet', '--tags');
    await clone.git('switch', '--quiet', '-c', 'topic', 'v1');
    await clone.commit();
    await expectAccepted(bed, contribution, await clone.push());
  });
});

describe('a partial clone', exhaustive, () => {
  it('without trees pushes its work', async () => {
    const upstream = await bed.createUpstream({ commits: 5 });
    const clone = await bed.person().clone(upstream.url, '--filter=tree:0');
    await clone.commit({ files: { 'upstream/2.txt': 'changed\n' } });
    await expectAccepted(bed, { upstream, clone }, await clone.push());
  });
});

describe('dates of the person’s own commits', exhaustive, () => {
  it('of 1970 are taken on an old clone', async () => {
    const upstream = await bed.createUpstream({ commits: 0 });
    await upstream.grow({ count: 10, ageDays: 500, stepDays: 3 });
    const clone = await bed.person().copy(upstream);
    await upstream.grow({ count: 30, ageDays: 2, stepDays: 10 });
    await clone.commit({ date: 1_007 });
    const { commits } = await expectAccepted(bed, { upstream, clone }, await clone.push());
    expect(commits).toHaveLength(1);
  });
});

describe('a commit whose parent is nowhere to be found', exhaustive, () => {
  it('is refused for a shallow clone of another history', async () => {
    const upstream = await bed.createUpstream();
    const person = bed.person();
    const own = await person.init(upstream.url);
    await own.commit();
    await own.commit();
    const clone = await person.clone(`file://${own.path}`, '--depth=1');
    await clone.commit();
    const pushed = await clone.push(upstream.url, 'HEAD:refs/heads/topic');
    const lines = await expectRefused(bed, upstream, pushed, UNPROVEN);
    expect(lines.join('\n')).toContain('git pull --rebase ');
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toEqual([]);
  });

  it('is refused when the host has the parent, in a fork of the person’s own', async () => {
    const { clone, person, upstream } = await contribute(bed);
    // The person's public fork holds the same commit under their name: its presence must not count
    // as a proof.
    const publicFork = bed.sandbox.createRepository({ owner: person.word, name: upstream.name });
    await clone.commit();
    await clone.git('push', '--quiet', publicFork, 'HEAD:refs/heads/main');
    const newId = await clone.commit();
    const pack = await packOf(clone, ['HEAD', '^HEAD~1']);
    const body = pushBody({ commands: [{ newId, ref: 'refs/heads/topic' }], pack });
    const { report } = readReport((await sendPush(upstream.url, person, body)).body);
    expect(report[1]).toBe(`ng refs/heads/topic push rejected: ${UNPROVEN}`);
  });
});
