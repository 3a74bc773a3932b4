/** Pushes through the service to a real Gitea, with a real Git client. */
import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { readRef } from '../../sandbox/bare-repository.ts';
import { contribute, expectAccepted } from '../e2e/support/contribution.ts';
import { gitIn } from '../e2e/support/objects.ts';
import type { Clone } from '../e2e/support/person.ts';
import { delayedAs, pass, press, published, publishedAs } from '../e2e/support/delayed.ts';
import { Operator, OPERATOR } from '../e2e/support/operator.ts';
import { bannerOf, remoteLines, statusTable } from '../e2e/support/push-output.ts';
import { TEST_HEADER } from '../e2e/support/tripwire.ts';
import type { Upstream } from '../e2e/support/upstream.ts';
import { unique } from '../host/contract/world.ts';
import { HOST_KEY, useGiteaBed } from './support/gitea-bed.ts';
import { pktText } from '../support/pkt-line.ts';

const MB = 1024 * 1024;

async function treeOf(clone: Clone, revision: string, path = clone.path): Promise<string> {
  return (await clone.person.mustGit(path, ['rev-parse', `${revision}^{tree}`])).toString();
}

/** The name of a push option. */
const nameOf = (option: string) => option.split('=', 1)[0];

describe.skipIf(inject('gitea') === null)('a push to Gitea', () => {
  const bed = useGiteaBed(null, OPERATOR);

  /** An open pull request of one commit. */
  async function opened() {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const first = await expectAccepted(bed, contribution, await contribution.clone.push());
    const update = (...more: string[]) =>
      contribution.clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, ...more, 'origin', 'HEAD:topic');
    return { ...contribution, first, update };
  }

  /** Where the commits of a pull request end. */
  const tipOf = (upstream: Upstream, number: number) => {
    const { path, refName } = bed.host.source(upstream, { number }, '');
    return readRef(path, refName) ?? '';
  };
  it('opens a pull request, and its update changes it', async () => {
    const { upstream, clone, first, update } = await opened();
    await clone.commit({ message: 'Two\n' });
    const second = await expectAccepted(bed, { upstream, clone }, await update());
    expect(second.pull.number).toBe(first.pull.number);
    expect(second.commits).toHaveLength(2);
    expect(second.commits[0]?.oid).toBe(first.commits[0]?.oid);
    expect(bed.host.forkPath(upstream)).toBeNull();
    const options = (await bed.host.pushes(upstream)).map(({ commands: [, ...rest] }) => rest.map(nameOf));
    expect(options).toEqual([['topic', 'title', 'description'], ['topic']]);
  });

  it.each(['bundle create - origin/main..HEAD', 'format-patch --stdout origin/main'])(
    'that is sent with curl as README.md says opens a pull request: git %s',
    async (command) => {
      const contribution = await contribute(bed);
      const { clone, person, upstream } = contribution;
      await clone.commit({ message: 'One\n' });
      const door = command.startsWith('bundle') ? 'bundle' : 'patch';
      const address = `${bed.serviceUrl}/v1/${HOST_KEY}/${upstream.fullName}/${door}`;
      const line = `git ${command} | curl --silent --data-binary @- ${address}`;
      const printed = (await person.mustRun('sh', clone.path, ['-c', line])).toString();
      expect(printed).toContain('Your pull request is open.');
      const pushed = { code: 0, stdout: '', stderr: printed.replaceAll(/^/gm, 'remote: ') };
      await expectAccepted(bed, contribution, pushed);
    },
  );

  it('that replaces commits updates its pull request', async () => {
    const { upstream, clone, first, update } = await opened();
    await clone.git('commit', '--amend', '-m', 'Better');
    const second = await expectAccepted(bed, { upstream, clone }, await update());
    expect(second.pull).toMatchObject({ number: first.pull.number, title: first.pull.title });
    const [, push] = await bed.host.pushes(upstream);
    expect(push?.commands).toContain('force-push=true');
  });

  it('that is repeated changes nothing', async () => {
    const { upstream, clone, first, update } = await opened();
    const again = await expectAccepted(bed, { upstream, clone }, await update());
    expect(again.pull).toEqual(first.pull);
    expect(remoteLines(await update()).join()).toContain('has these commits already');
    expect(await bed.host.pushes(upstream)).toHaveLength(1);
  });

  it('opens another pull request after the first was closed, and updates that', async () => {
    const { upstream, clone, first, update } = await opened();
    await bed.people.call('PATCH', `/repos/${upstream.fullName}/pulls/${first.pull.number}`, {
      state: 'closed',
    });
    await clone.commit({ message: 'Two\n\nMore of it.\n\nAnd more.\n' });
    const second = await expectAccepted(bed, { upstream, clone }, await update());
    expect(second.banner.prHash).toBe(first.banner.prHash);
    expect(second.pull).toMatchObject({ title: 'Two', body: 'More of it.\n\nAnd more.' });
    await clone.git('commit', '--amend', '-m', 'Three');
    const third = await expectAccepted(bed, { upstream, clone }, await update());
    expect(third.pull.number).toBe(second.pull.number);
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
  });

  it('that opens another pull request, because the first was closed in between, counts and is recorded as one', async () => {
    const { upstream, clone, first, update } = await opened();
    const path = `/repos/${upstream.fullName}/pulls/${first.pull.number}`;
    const body = await bed.people.call<object>('GET', path);
    await bed.people.call('PATCH', path, { state: 'closed' });
    bed.faults.inject({ method: 'GET', path: new RegExp(`${path}$`), answer: { status: 200, body } });
    await clone.commit({ message: 'Two\n' });
    const pushed = await update();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed).join('\n')).toContain(
      'was closed or changed meanwhile, so a new one was opened',
    );
    const [, second] = await bed.host.pulls(upstream);
    expect(second).toMatchObject({ state: 'open', title: 'Two' });
    const shown = await fetch(`${bed.serviceUrl}/api/recent-prs`, { headers: { [TEST_HEADER]: '1' } });
    const { prs } = await shown.json<{ prs: { pr_url: string }[] }>();
    expect(prs.map(({ pr_url: url }) => url)).toContain(bannerOf(pushed).prUrl);
    expect(bannerOf(pushed).prUrl).toMatch(new RegExp(`/${second?.number}$`));
    // It is the second of five within the hour, which a preview says without an attempt.
    const preview = async () => remoteLines(await clone.push('-o', 'preview')).join('\n');
    for (const message of ['Three\n', 'Four\n', 'Five\n']) {
      expect(await preview()).not.toMatch(/rate limit exceeded/i);
      await clone.commit({ message });
      const { code, stderr } = await clone.push();
      expect(code, stderr).toBe(0);
    }
    await clone.commit({ message: 'Six\n' });
    expect(await preview()).toMatch(/rate limit exceeded/i);
  });

  it('goes to another base, and then updates the pull request there', async () => {
    const { upstream, clone, first, update } = await opened();
    await upstream.grow({ branch: 'next/2', from: 'main' });
    await clone.git('commit', '--amend', '-m', 'Better');
    const moved = await expectAccepted(bed, { upstream, clone }, await update('-o', 'base=next/2'));
    expect(moved.pull).toMatchObject({ number: first.pull.number, base: 'next/2' });
    await clone.commit({ message: 'More\n' });
    const updated = await expectAccepted(bed, { upstream, clone }, await update());
    expect(updated.pull).toMatchObject({ number: first.pull.number, base: 'next/2' });
  });

  it('with squash and a text of its own is one commit with that text', async () => {
    const { upstream, clone } = await contribute(bed);
    for (const message of ['One\n', 'Two\n']) await clone.commit({ message });
    const options = ['-o', 'squash', '-o', 'title=All of it', '-o', 'description=At once.'];
    const pushed = await clone.push(...options, 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const pull = await bed.host.onlyPull(upstream);
    expect(pull).toMatchObject({ title: 'All of it', body: 'At once.' });
    const { prHash, prKey } = bannerOf(pushed);
    expect(tipOf(upstream, pull.number)).toBe(pull.headSha);
    const named = ['-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`];
    const edited = await clone.push(...named, '-o', 'title=Else', 'origin', 'HEAD:topic');
    expect(edited.code, edited.stderr).toBe(0);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Else', body: 'At once.' });
  });

  it('is withdrawn by deleting its branch', async () => {
    const { upstream, clone, first } = await opened();
    const { prHash, prKey } = first.banner;
    const pushed = await clone.push('-o', `pr-hash=${prHash}`, '-o', `pr-key=${prKey}`, 'origin', ':main');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(remoteLines(pushed)).toContain('Your pull request is withdrawn.');
    expect(await bed.host.pulls(upstream)).toMatchObject([{ state: 'closed' }]);
    expect(pushed.stderr).not.toContain('branch is removed');
    const again = await clone.push(
      '-o',
      `pr-hash=${prHash}`,
      '-o',
      `pr-key=${prKey}`,
      '-o',
      'withdraw',
      'origin',
      'HEAD:topic',
    );
    expect(remoteLines(again)).toContain('Your pull request is withdrawn.');
  });

  it.each([
    ['the push', { method: 'POST', path: /\/git-receive-pack$/ }],
    ['what it has opened', { method: 'GET', path: /\/pulls\/\d+$/ }],
  ])('whose answer is lost, to %s, opens one pull request', async (_, lost) => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    bed.faults.inject({ ...lost, cut: { during: 'answer', afterBytes: 0 } });
    await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(await bed.host.pulls(contribution.upstream)).toHaveLength(1);
  });

  it.each([
    [
      'the answer is lost',
      { method: 'POST', path: /\/git-receive-pack$/, cut: { during: 'answer', afterBytes: 0 } },
    ],
    ['the host does not show it', { method: 'GET', path: /\/pulls\/\d+$/, answer: { status: 404 } }],
  ] as const)(
    'of which nobody knows what became of it is resumed when it is repeated: %s',
    async (_, fault) => {
      const contribution = await contribute(bed);
      const { clone, upstream } = contribution;
      await clone.commit();
      bed.faults.inject(fault);
      bed.faults.inject({ method: 'GET', path: /\/pulls$/, answer: { status: 503 }, times: 3 });
      const lost = await clone.push();
      expect(lost.code, lost.stderr).toBe(1);
      expect(lost.stderr).toContain('Push the same commits again later.');
      await expectAccepted(bed, contribution, await clone.push());
      expect(await bed.host.pulls(upstream)).toHaveLength(1);
      expect(await bed.host.pushes(upstream)).toHaveLength(1);
    },
  );

  it('that fails in the host’s hook is for the moment, and is resumed when it is repeated', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const report = `${pktText('unpack ok\n')}${pktText('ng refs/for/main fail to run proc-receive hook\n')}0000`;
    bed.faults.inject({
      method: 'POST',
      path: /\/git-receive-pack$/,
      answer: {
        status: 200,
        headers: { 'Content-Type': 'application/x-git-receive-pack-result' },
        body: `${pktText(`\u0001${report}`)}0000`,
      },
    });
    const failed = await contribution.clone.push();
    expect(failed.code, failed.stderr).toBe(1);
    expect(failed.stderr).toContain('Push the same commits again later.');
    await expectAccepted(bed, contribution, await contribution.clone.push());
    expect(await bed.host.pulls(contribution.upstream)).toHaveLength(1);
  });

  it('that the repository refuses (403) is refused for good, in its words', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit();
    const answer = {
      status: 403,
      headers: { 'Content-Type': 'text/plain' },
      body: 'mirror repository is read-only',
    };
    bed.faults.inject({ method: 'POST', path: /\/git-receive-pack$/, answer });
    const refused = await contribution.clone.push();
    expect(refused.code, refused.stderr).toBe(1);
    expect(refused.stderr).toContain('mirror repository is read-only');
    expect(refused.stderr).not.toContain('again later');
    expect(refused.stderr).not.toContain('operator');
  });

  it('that updates, and whose answer is lost, has updated', async () => {
    const { upstream, clone, first, update } = await opened();
    await clone.git('commit', '--amend', '-m', 'Better');
    bed.faults.inject({
      method: 'POST',
      path: /\/git-receive-pack$/,
      cut: { during: 'answer', afterBytes: 0 },
    });
    const second = await expectAccepted(bed, { upstream, clone }, await update());
    expect(second.pull.number).toBe(first.pull.number);
  });

  it('follows upstream forward, and after it was rewritten', async () => {
    const { upstream } = await opened();
    await upstream.grow({ count: 2 });
    await secondPush(upstream);
    await upstream.grow({ count: 2, from: await upstream.git('rev-parse', 'main~3') });
    await secondPush(upstream);
  });

  async function secondPush(upstream: Awaited<ReturnType<typeof opened>>['upstream']): Promise<void> {
    const clone = await bed.person().clone(upstream.url);
    await clone.commit();
    await expectAccepted(bed, { upstream, clone }, await clone.push('origin', 'HEAD:topic'));
  }

  it('to another branch is for that branch', async () => {
    const { upstream } = await opened();
    await upstream.grow({ branch: 'release/1.0', from: 'main', count: 2 });
    const clone = await bed.person().clone(upstream.url, '--branch', 'release/1.0');
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:release/1.0');
    const { pull } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(pull.base).toBe('release/1.0');
  });

  it('with a delay is published by the schedule, updates later, and is given up before it is due', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const name = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
    expect(await bed.host.pushes(upstream)).toEqual([]);
    const { prHash } = publishedAs(await published(bed.inner, name));
    const pull = await bed.host.onlyPull(upstream);
    await clone.git('commit', '--amend', '-m', 'Better');
    delayedAs(await clone.push('-f', '-o', `pr-hash=${prHash}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'));
    await expect
      .poll(async () => (await pass(bed.inner), (await bed.host.onlyPull(upstream)).headSha))
      .not.toBe(pull.headSha);
    await clone.commit();
    const other = delayedAs(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:other'));
    expect(await press(bed.inner, other, 'give-up')).toMatch(/^200 Given up\n/);
    await pass(bed.inner);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });

  it('that is a preview, or names a made-up hash, writes nothing more than it says', async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const preview = await clone.push('-o', 'preview', 'origin', 'HEAD:topic');
    expect(preview.stderr).toContain('preview: nothing was published');
    expect(await bed.host.pushes(upstream)).toEqual([]);
    const named = await clone.push('-o', 'pr-hash=0123456789ab', 'origin', 'HEAD:topic');
    expect(remoteLines(named).join()).toContain('so this would open a NEW one');
    expect((await bed.host.onlyPull(upstream)).state).toBe('open');
  });

  it('opens what a form shows for its next change, and what a rollback closes', async () => {
    const { upstream, first } = await opened();
    const form = `/v1/${HOST_KEY}/${upstream.fullName}/change?pr_hash=${first.banner.prHash}&path=upstream%2F1.txt`;
    const page = await (await fetch(bed.serviceUrl + form, { headers: { [TEST_HEADER]: '1' } })).text();
    expect(page).toContain('name="text"');
    const { body } = await new Operator(bed.inner).rollBack();
    expect(body).toMatchObject({
      closed_urls: expect.arrayContaining([first.pull.url]) as string[],
      failed: 0,
    });
    expect((await bed.host.onlyPull(upstream)).state).toBe('closed');
  });

  it('to a repository that takes no push options says so, with a next step', async () => {
    const { upstream, clone } = await contribute(bed);
    const { path } = bed.host.source(upstream, { number: 0 }, '');
    await gitIn(path, 'config', 'receive.advertisePushOptions', 'false');
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(statusTable(pushed).join()).toContain('the code host takes no pull requests by a push');
    expect(remoteLines(pushed).join('\n')).toContain('Tell the operator of this service');
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('goes to a renamed repository, under its old and its new name', async () => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url);
    await clone.commit();
    const first = await expectAccepted(bed, { upstream, clone }, await clone.push());
    const name = unique('renamed');
    await bed.people.call('PATCH', `/repos/${upstream.fullName}`, { name });
    upstream.moveTo(name);
    await clone.commit();
    const pushed = await clone.push('-f', '-o', `pr-hash=${first.banner.prHash}`, 'origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await bed.host.pulls({ fullName: `mona/${name}` })).toHaveLength(1);
    const other = await bed.person().clone(bed.remoteUrl('mona', name));
    await other.commit();
    const again = await other.push('origin', 'HEAD:topic');
    expect(again.code, again.stderr).toBe(0);
    expect(await bed.host.pulls({ fullName: `mona/${name}` })).toHaveLength(2);
  });

  it.each([
    ['stale', []],
    ['shallow', ['--depth=1']],
  ])('from a %s clone sends no more than its own work', async (_, args) => {
    const upstream = await bed.createUpstream();
    const clone = await bed.person().clone(upstream.url, ...args);
    await upstream.grow({ count: 3 });
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(pushed.code, pushed.stderr).toBe(0);
    const [push] = await bed.host.pushes(upstream);
    expect(push?.objects.filter(({ type }) => type === 'commit')).toHaveLength(1);
    expect((await bed.host.onlyPull(upstream)).state).toBe('open');
  });

  it('of 90 MB arrives whole', async () => {
    const contribution = await contribute(bed);
    const files = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`large-${index}.bin`, randomBytes(9 * MB)]),
    );
    await contribution.clone.commit({ files });
    const pushed = await contribution.clone.push();
    expect(pushed.code, pushed.stderr).toBe(0);
    const { clone, upstream } = contribution;
    const { number } = await bed.host.onlyPull(upstream);
    const { path } = bed.host.source(upstream, { number }, '');
    expect(await treeOf(clone, 'HEAD')).toBe(await treeOf(clone, tipOf(upstream, number), path));
  });

  it('to a repository without pull requests is refused before anything is written', async () => {
    const { clone, upstream } = await contribute(bed);
    await bed.people.call('PATCH', `/repos/${upstream.fullName}`, { has_pull_requests: false });
    await clone.commit();
    const pushed = await clone.push('origin', 'HEAD:topic');
    expect(statusTable(pushed).join('\n')).toContain('not accepted by the repository');
    expect(pushed.stderr).toContain(`${upstream.fullName} takes no pull requests.`);
    expect(await bed.host.pushes(upstream)).toEqual([]);
  });

  it('with -o draft opens a draft', async () => {
    const contribution = await contribute(bed);
    await contribution.clone.commit({ message: 'Mend it\n' });
    const pushed = await contribution.clone.push('-o', 'draft', 'origin', 'HEAD:topic');
    const { pull } = await expectAccepted(bed, contribution, pushed);
    expect(pull).toMatchObject({ title: 'WIP: Mend it', isDraft: true });
  });

  it('to a private, an archived, a missing or a wrongly named repository is refused with a sentence', async () => {
    const person = bed.person();
    const clone = await person.init(bed.remoteUrl('mona', 'nothing'));
    await clone.commit();
    const tell = async (owner: string, name: string) => {
      await clone.git('remote', 'set-url', 'origin', bed.remoteUrl(owner, name));
      return clone.push('origin', 'HEAD:topic');
    };
    const hidden = await bed.people.createRepository({ private: true });
    for (const name of [hidden.name.name, 'nothing']) {
      expect((await tell('mona', name)).stderr).toContain('not found');
    }
    expect((await tell('api', 'v1')).stderr).toContain('invalid owner or repository name');
    const upstream = await bed.createUpstream();
    await bed.people.call('PATCH', `/repos/${upstream.fullName}`, { archived: true });
    const archived = await tell('mona', upstream.name);
    expect(statusTable(archived).join('\n')).toContain('archived');
    expect(await bed.host.pushes(upstream)).toEqual([]);
  });
});
