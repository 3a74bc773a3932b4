/** A push with warnings tells them while nothing is public, and can be stopped. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { bannerOf, remoteLines } from '../support/push-output.ts';
import { RawConnection } from '../support/raw-http.ts';
import { neutralEnvironment, run } from '../support/run.ts';
import { type TestBed, useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { WaitingPush } from '../support/waiting-push.ts';
import { pushBody, RECEIVE_PACK } from '../support/wire.ts';

const TOPIC = ['origin', 'HEAD:refs/heads/topic'];
const HOME = { 'notes.txt': 'See /home/grace/project.\n' };
const HEADING = 'Paths of home folders become public. Check whether they name you:';

/** A push on this bed that waits. */
async function waiting(bed: TestBed) {
  const contribution = await contribute(bed);
  await contribution.clone.commit({ files: HOME });
  const push = new WaitingPush(contribution.clone, ...TOPIC);
  await push.waits;
  return { ...contribution, push };
}

/** An update of a pull request to whose branch a maintainer has pushed as well. */
async function maintained(bed: TestBed) {
  const contribution = await contribute(bed);
  const { upstream, clone } = contribution;
  await clone.commit();
  const { banner, pull } = await expectAccepted(bed, contribution, await clone.push(...TOPIC));
  const on = { owner: upstream.owner, repo: upstream.name, number: pull.number };
  const commit = (message: string) =>
    bed.sandbox.maintainer.commitTo(on, message, { [`${message}.txt`]: 'theirs\n' });
  const theirs = await commit('Theirs');
  const option = ['-o', `pr-hash=${banner.prHash}`];
  const update = (...more: string[]) => new WaitingPush(clone, '-f', ...option, ...more, ...TOPIC);
  return { upstream, clone, on, theirs, commit, update };
}

describe('while it waits', () => {
  const bed = useOwnTestBed({ env: { WARNING_WAIT: '60s' } });
  const writes = ({ name }: Upstream) =>
    bed.host.requestsFor({ name }, 'POST', /receive-pack$|\/forks$|\/pulls$/);
  const stopped = () => bed.logLines.filter((line) => line.includes('push stopped')).length;

  it('Ctrl-C stops it, and nothing of it is public', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: HOME });
    const push = new WaitingPush(clone, ...TOPIC);
    await push.waits;
    push.stop();
    expect(remoteLines(await push.ended)).toContain(`[home-folders] ${HEADING}`);
    await expect.poll(stopped).toBe(1);
    expect(bed.logLines.join('\n')).toMatch(/^\S+ info push stopped durationMs=\d+$/m);
    expect(writes(upstream)).toEqual([]);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it(
    'so often that it would have used up its limit, and the next push is published',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone } = contribution;
      await clone.commit({ files: HOME });
      const before = stopped();
      for (let times = 1; times <= 6; times++) {
        const push = new WaitingPush(clone, ...TOPIC);
        await push.waits;
        push.stop();
        await expect.poll(stopped).toBe(before + times);
      }
      await expectAccepted(bed, contribution, await clone.push('-o', 'yes=home-folders', ...TOPIC));
    },
  );

  it('its printed command publishes at once', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit({ files: HOME });
    const push = new WaitingPush(clone, ...TOPIC);
    await push.waits;
    push.stop('SIGKILL');
    const lines = remoteLines(await push.ended);
    const command = lines.find((line) => line.trim().startsWith('git push')) ?? '';
    expect(command).toMatch(/^ {2}git push -o yes=home-folders http\S+ [0-9a-f]{12}:refs\/heads\/topic$/);
    const published = await clone.tryGit(...command.trim().split(' ').slice(1));
    await expectAccepted(bed, contribution, published);
    expect(remoteLines(published)).toContain(HEADING);
  });

  it(
    'the command with which a preview ends publishes at once; without a wait there is none',
    exhaustive,
    async () => {
      const contribution = await contribute(bed);
      const { clone } = contribution;
      await clone.commit({ files: HOME });
      const advice = /^To publish without the wait: (git push .*)$/;
      const advised = async (...options: string[]) => {
        const named = ['preview', ...options].flatMap((option) => ['-o', option]);
        const lines = remoteLines(await clone.push(...named, ...TOPIC));
        return lines.flatMap((line) => advice.exec(line)?.[1] ?? []);
      };
      for (const option of ['yes=home-folders', 'delay=1h']) expect(await advised(option)).toEqual([]);
      const [command = ''] = await advised('draft');
      expect(command).toMatch(
        /^git push -o draft -o yes=home-folders http\S+ [0-9a-f]{12}:refs\/heads\/topic$/,
      );
      await expectAccepted(bed, contribution, await clone.tryGit(...command.split(' ').slice(1)));
    },
  );

  it('it leaves the memory to others that it has taken for thousands of branches', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    const tip = await upstream.tip();
    const branches = Array.from({ length: 19_000 }, (_, at) => `${tip} refs/heads/branch-${at}`);
    await writeFile(
      join(upstream.path, 'packed-refs'),
      ['# pack-refs with: peeled', `${tip} refs/heads/main`, ...branches, ''].join('\n'),
    );
    await clone.commit({ files: HOME });
    const push = new WaitingPush(clone, '-o', 'base=main', ...TOPIC);
    await push.waits;
    const other = await bed.person().copy(upstream);
    await other.commit({ files: { 'words.txt': 'Words.\n' } });
    const pushed = await other.push('-o', 'base=main', 'origin', 'HEAD:refs/heads/other');
    expect(pushed, pushed.stderr).toMatchObject({ code: 0 });
    push.stop();
    await push.ended;
  });

  it('a warning with another code waits still', async () => {
    const { clone } = await contribute(bed);
    await clone.commit({ files: HOME });
    const push = new WaitingPush(clone, '-o', 'yes=metadata', ...TOPIC);
    await push.waits;
    push.stop();
    expect(remoteLines(await push.ended).join('\n')).toContain('git push -o yes=home-folders http');
  });

  it('neither a quiet push nor a delayed one waits', async () => {
    const { clone } = await contribute(bed);
    await clone.commit({ files: HOME });
    const quiet = await clone.push('--quiet', ...TOPIC);
    expect(bannerOf(quiet).prUrl).toContain('/pull/1');
    await clone.commit({ files: { 'other.txt': 'See /home/grace/other.\n' } });
    const delayed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:refs/heads/later');
    expect(remoteLines(delayed).join('\n')).toContain('Delayed: it will be published between');
  });
});

describe('after the wait', () => {
  const bed = useOwnTestBed({ env: { WARNING_WAIT: '2s', PANIC_PASSWORD: 'correct horse battery' } });

  it('it is published, and its warnings were told once', async () => {
    const { push, ...contribution } = await waiting(bed);
    expect(await bed.host.pulls(contribution.upstream)).toEqual([]);
    const published = await push.ended;
    await expectAccepted(bed, contribution, published);
    expect(remoteLines(published).filter((line) => line.includes(HEADING))).toHaveLength(1);
  });

  it('Ctrl-C stops it still while the host is slow', exhaustive, async () => {
    const { upstream, push } = await waiting(bed);
    const path = new RegExp(`/${upstream.name}(?:\\.git|$)`);
    const asked = () => bed.host.requests.filter((request) => request.path.includes(upstream.name)).length;
    const before = asked();
    bed.sandbox.faults.inject({ path, delayMs: 4_000 });
    await expect.poll(asked).toBeGreaterThan(before);
    push.stop();
    const stopped = () => bed.logLines.filter((line) => line.includes('push stopped')).length;
    await expect.poll(stopped).toBe(1);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('Ctrl-C stops it still while its fork is made', exhaustive, async () => {
    const { upstream, push } = await waiting(bed);
    const path = new RegExp(`/${upstream.name}/forks$`);
    bed.sandbox.faults.inject({ method: 'POST', path, delayMs: 4_000 });
    const asked = () => bed.host.requestsFor(upstream, 'POST', path);
    await expect.poll(asked).toHaveLength(1);
    const stopped = () => bed.logLines.filter((line) => line.includes('push stopped')).length;
    const before = stopped();
    push.stop();
    await expect.poll(stopped).toBe(before + 1);
    expect(bed.host.requestsFor(upstream, 'POST', /receive-pack$/)).toEqual([]);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('a client that only ends its side of the connection has not left', exhaustive, async () => {
    const { upstream, clone, person } = await contribute(bed);
    const newId = await clone.commit({ files: HOME });
    const { stdout: pack } = await run('git', ['pack-objects', '--stdout', '--revs', '--quiet'], {
      cwd: clone.gitFolder,
      env: neutralEnvironment({}),
      input: 'HEAD\n^origin/main\n',
    });
    const commands = [{ newId, ref: 'refs/heads/topic' }];
    const body = pushBody({ commands, capabilities: 'report-status side-band-64k', pack });
    const connection = await RawConnection.open(bed.service.url);
    const { pathname } = new URL(`${upstream.url}/git-receive-pack`);
    connection.sendHead(pathname, person, {
      'Content-Type': RECEIVE_PACK,
      'Content-Length': String(body.byteLength),
    });
    connection.send(body);
    connection.end();
    expect((await connection.answer())?.body.toString()).toContain('ok refs/heads/topic');
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('a pull request that was closed meanwhile is not updated', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await clone.commit();
    const { banner, pull } = await expectAccepted(bed, contribution, await clone.push(...TOPIC));
    await clone.commit({ files: HOME });
    const push = new WaitingPush(clone, '-o', `pr-hash=${banner.prHash}`, ...TOPIC);
    await push.waits;
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: pull.number });
    expect((await push.ended).stderr).toContain('push rejected: the pull request is not open any more');
  });

  it('a rebased update is published with messages that the service has changed', exhaustive, async () => {
    const { upstream, clone, on, update } = await maintained(bed);
    await clone.git('pull', '--quiet', '--rebase', 'origin', `refs/pull/${on.number}/head`);
    await clone.commit({ files: HOME });
    const push = update('-o', 'sign-off');
    await push.waits;
    const { stderr } = await push.ended;
    expect(stderr).toContain('Your pull request has been updated.');
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it(
    'whoever leaves while it is published gets the whole pull request, and none twice',
    exhaustive,
    async () => {
      const { upstream, clone, push } = await waiting(bed);
      const path = new RegExp(`/${upstream.name}/pulls$`);
      const { promise: until, resolve: answer } = Promise.withResolvers<void>();
      bed.sandbox.faults.inject({ method: 'POST', path, until });
      await expect.poll(() => bed.host.requestsFor(upstream, 'POST', path)).toHaveLength(1);
      push.stop('SIGKILL');
      answer();
      await push.ended;
      await expect.poll(() => bed.host.pulls(upstream)).toHaveLength(1);
      const again = await clone.push('-o', 'yes=home-folders,second', ...TOPIC);
      expect(bannerOf(again).prUrl).toContain('/pull/1');
      expect(await bed.host.pulls(upstream)).toHaveLength(1);
    },
  );

  it('panic that began meanwhile refuses it', exhaustive, async () => {
    const { upstream, push } = await waiting(bed);
    const setPanic = (active: boolean) =>
      fetch(`${bed.service.url}/admin/panic`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ password: 'correct horse battery', active }),
      });
    await setPanic(true);
    expect((await push.ended).stderr).toContain('push rejected: service temporarily suspended');
    expect(await bed.host.pulls(upstream)).toEqual([]);
    await setPanic(false);
  });
});

/** Longer than a push takes, also on a busy machine. */
const LONG_WAIT = '15s';

describe('after a wait in which somebody else was faster', exhaustive, () => {
  const bed = useOwnTestBed({ env: { WARNING_WAIT: LONG_WAIT } });

  it('a pull request that was updated meanwhile is not overwritten', async () => {
    const contribution = await contribute(bed);
    const { clone } = contribution;
    await clone.commit();
    const { banner } = await expectAccepted(bed, contribution, await clone.push(...TOPIC));
    const option = ['-o', `pr-hash=${banner.prHash}`];
    const tip = await clone.commit();
    await clone.git('reset', '--quiet', '--hard', 'HEAD~1');
    await clone.commit({ files: HOME });
    const push = new WaitingPush(clone, ...option, ...TOPIC);
    await push.waits;
    // The pull request is not locked while the first one waits.
    const other = await clone.push(...option, 'origin', `${tip}:refs/heads/topic`);
    await expectAccepted(bed, contribution, other, { tip });
    expect((await push.ended).stderr).toContain('another push to this pull request came first');
  });

  it('an overwrite drops nothing that came while it waited', async () => {
    const { upstream, clone, theirs, commit, update } = await maintained(bed);
    await clone.commit();
    const push = update('-o', 'overwrite');
    await push.waits;
    const later = await commit('Later');
    const { stderr } = await push.ended;
    expect(stderr).toContain('push rejected: somebody else has changed this pull request');
    expect(stderr).toContain(`${later.slice(0, 12)} Later`);
    // The person was told of this one before.
    expect(stderr.split(theirs.slice(0, 12))).toHaveLength(2);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ headSha: later });
  });

  it('the same commits, opened by somebody else meanwhile, are not opened twice', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit({ files: HOME });
    const other = await bed.person().copy(upstream);
    await other.git('pull', '--quiet', clone.gitFolder, 'HEAD');
    const push = new WaitingPush(clone, ...TOPIC);
    await push.waits;
    const opened = await other.push('-o', 'yes=home-folders', ...TOPIC);
    expect(bannerOf(opened).prUrl).toContain('/pull/1');
    const { stderr } = await push.ended;
    expect(stderr).toContain('push rejected: the commits are in another pull request now');
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });
});
