/**
 * A maintainer has put a commit on the branch of a pull request ("Allow edits by maintainers"). An
 * update replaces the branch; it never deletes their work unasked, and what the answer prints works
 * as it stands.
 */
import { describe, expect, it } from 'vitest';
import { readRef } from '../../../sandbox/bare-repository.ts';
import { contribute, type Contribution, expectAccepted } from '../support/contribution.ts';
import { ALWAYS } from '../support/failing-host.ts';
import { FormClient, savedIn } from '../support/form-client.ts';
import { delayedAs, pageOf, pass, published } from '../support/delayed.ts';
import { gitIn } from '../support/objects.ts';
import type { GitRun } from '../support/person.ts';
import { keyIn, remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

const REFUSED = 'somebody else has changed this pull request';

/** An open pull request of one commit, with a commit of the maintainer's on its branch. */
async function fixed() {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit({ message: 'One\n', files: { 'one.txt': 'one\n' } });
  const pushed = await clone.push('origin', 'HEAD:topic');
  const first = await expectAccepted(bed, contribution, pushed);
  const on = { owner: upstream.owner, repo: upstream.name, number: first.pull.number };
  const fix = (message = 'Fix the typo\n') =>
    bed.sandbox.maintainer.commitTo(on, message, { 'fix.txt': 'fixed\n' });
  const option = `pr-hash=${first.banner.prHash}`;
  const update = (...options: string[]) =>
    clone.push('-f', '-o', option, ...options.flatMap((more) => ['-o', more]), 'origin', 'HEAD:topic');
  const tip = () => readRef(first.forkPath, `refs/heads/${first.banner.branch}`);
  return { ...contribution, first, on, fix, update, tip, key: keyIn(pushed) ?? '' };
}

function expectRefused(pushed: GitRun): string[] {
  expect(pushed.code, pushed.stderr).toBe(1);
  expect(statusTable(pushed), pushed.stderr).toEqual([expect.stringContaining(`push rejected: ${REFUSED}`)]);
  return remoteLines(pushed);
}

/** Types a command that an answer has printed. Answers what it prints. */
async function type({ clone }: Pick<Contribution, 'clone'>, lines: readonly string[], start: string) {
  const command = lines.map((line) => line.trim()).find((line) => line.startsWith(start)) ?? '';
  expect(command, lines.join('\n')).not.toBe('');
  const env = { GIT_USER_AGENT: clone.person.userAgent };
  return (await clone.person.mustRun('sh', clone.path, ['-c', `${command} 2>&1`], { env })).toString();
}

describe('a commit of somebody else’s', exhaustive, () => {
  it('stays when an update comes, which is told of it, of the way to get it, and of the way to drop it', async () => {
    const { clone, upstream, fix, update, tip, on } = await fixed();
    const theirs = await fix();
    await clone.commit({ message: 'Two\n' });
    const lines = expectRefused(await update());
    expect(lines).toContain(`  ${theirs.slice(0, 12)} Fix the typo`);
    expect(lines).toContain(`  git pull --rebase ${upstream.url} refs/pull/${on.number}/head`);
    expect(tip()).toBe(theirs);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(theirs);
  });

  it('is in the pull request after it was got as the answer says, and the update was pushed again', async () => {
    const story = await fixed();
    const { clone, upstream, first, fix, update, tip } = story;
    await fix();
    await clone.commit({ message: 'Two\n' });
    await type(story, expectRefused(await update()), 'git pull --rebase');
    const pushed = await update();
    expect(pushed.code, pushed.stderr).toBe(0);
    const log = await gitIn(first.forkPath, 'log', '--reverse', '--format=%H %an %s', `main..${tip()}`);
    const [one, ...rest] = log.split('\n').map((line) => line.replace(bed.sandbox.botLogin, 'bot'));
    expect(one).toBe(`${first.commits[0]?.oid} bot One`);
    expect(rest.map((line) => line.slice(41))).toEqual(['bot Fix the typo', 'bot Two']);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ number: first.pull.number, headSha: tip() });
    // Nobody else has pushed since.
    await clone.commit({ message: 'Three\n' });
    expect((await update()).code).toBe(0);
  });

  it('that is signed off does not name the one who pushes', async () => {
    const story = await fixed();
    const { clone, on, update, tip } = story;
    const message = 'Fix it\n\nSigned-off-by: octo <octo@users.noreply.localhost>\n';
    await bed.sandbox.maintainer.commitTo(on, message, { 'fix.txt': 'by octo@users.noreply.localhost\n' });
    await clone.commit({ message: 'Two\n' });
    await type(story, expectRefused(await update()), 'git pull --rebase');
    const pushed = await update();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(await gitIn(story.first.forkPath, 'log', '-1', '--format=%B', `${tip()}^`)).toBe(message);
    // Their own names are searched for, as ever.
    await clone.commit({ message: `By ${clone.person.authorName}\n` });
    expect((await update()).stderr).toContain('would become public');
  });

  it('is dropped by the command that the answer shows, with all that was pushed with it', async () => {
    const story = await fixed();
    const { clone, upstream, fix, update, key } = story;
    await fix();
    await clone.commit({ message: 'Two\n' });
    const lines = expectRefused(await update('title=It’s two', `pr-key=${key}`));
    const output = await type(story, lines, 'git push -o pr-hash=');
    expect(output).toMatch(
      /This update drops commits that somebody else has pushed .*:\s+remote: +[0-9a-f]{12} Fix the typo/,
    );
    expect(output).toContain('Your pull request has been updated.');
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'It’s two' });
    const again = await expectAccepted(bed, { upstream, clone }, await update());
    expect(again.commits.map(({ message }) => message.toString())).toEqual(['One\n', 'Two\n']);
  });

  it('that takes the place of ours is kept, too, and so is a merge of upstream', async () => {
    for (const force of [true, false]) {
      const { clone, upstream, on, update, tip } = await fixed();
      const onto = force ? await upstream.tip() : undefined;
      const theirs = await bed.sandbox.maintainer.commitTo(on, 'Mine\n', { 'a.txt': 'a\n' }, onto);
      await clone.commit({ message: 'Two\n' });
      const lines = expectRefused(await update());
      expect(lines.filter((line) => /^ {2}[0-9a-f]{12} /.test(line))).toEqual([
        `  ${theirs.slice(0, 12)} Mine`,
      ]);
      expect(tip()).toBe(theirs);
    }
  });

  it('may be many: the newest are shown', async () => {
    const { clone, on, update } = await fixed();
    for (let count = 1; count <= 12; count++)
      await bed.sandbox.maintainer.commitTo(on, `Fix ${count}\n`, { 'fix.txt': `${count}\n` });
    await clone.commit();
    const lines = expectRefused(await update()).filter((line) => /Fix \d|and more/.test(line));
    expect(lines[0]).toMatch(/ Fix 12$/);
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('  and more');
  });

  it('that the host does not show is kept as well', async () => {
    const { clone, upstream, fix, update, tip } = await fixed();
    const theirs = await fix();
    await clone.commit();
    const path = new RegExp(`^/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-upload-pack$`);
    // The first one lists the branch.
    bed.sandbox.faults.inject({ method: 'POST', path, delayMs: 1 });
    bed.sandbox.faults.inject({ method: 'POST', path, times: ALWAYS, answer: { status: 403 } });
    const lines = expectRefused(await update());
    expect(lines.join('\n')).toContain('The code host does not show their commits.');
    bed.sandbox.faults.clear();
    expect(tip()).toBe(theirs);
  });

  it('stays if it comes while the host refuses an update for a moment', async () => {
    const { clone, upstream, fix, update, tip } = await fixed();
    await clone.commit({ message: 'Two\n' });
    const path = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-receive-pack$`);
    const theirs = Promise.withResolvers<string>();
    const answer = { status: 403, body: 'Write access to repository not granted.' };
    bed.sandbox.faults.inject({ method: 'POST', path, until: theirs.promise, answer });
    const updating = update();
    await expect.poll(() => bed.host.requests.filter((request) => path.test(request.path)).length).toBe(2);
    theirs.resolve(await fix());
    const pushed = await updating;
    expect(tip()).toBe(await theirs.promise);
    expect(pushed.stderr).toContain('another push to this pull request came first');
  });

  it('that upstream has taken meanwhile may go from the branch', async () => {
    const { clone, upstream, fix, update, on } = await fixed();
    await fix();
    await bed.sandbox.maintainer.merge(on);
    await clone.commit({ message: 'Two\n' });
    const pushed = await update();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
  });
});

describe('a branch that is not where the service has left it, but has nothing of others', exhaustive, () => {
  it('is made anew if it is gone', async () => {
    const { clone, upstream, first, update } = await fixed();
    const path = `/repos/${bed.sandbox.botLogin}/${upstream.name}/git/refs/heads/${first.banner.branch}`;
    await bed.host.call('DELETE', path).catch(() => {});
    await clone.commit();
    expect((await update()).code).toBe(0);
  });

  it('is updated if the answer to the last update was lost after its commits had arrived', async () => {
    const { clone, upstream, first, update, tip } = await fixed();
    await clone.commit({ message: 'Two\n' });
    const cut = { during: 'answer', afterBytes: 0 } as const;
    const path = new RegExp(`/${upstream.name}\\.git/git-receive-pack$`);
    const before = tip();
    // The commits have arrived, and nobody can be asked whether they have.
    bed.sandbox.faults.inject({ method: 'POST', path, cut });
    const lists = new RegExp(`/${bed.sandbox.botLogin}/${upstream.name}\\.git/git-upload-pack$`);
    bed.sandbox.faults.inject({ method: 'POST', path: lists, delayMs: 1 });
    bed.sandbox.faults.inject({ method: 'POST', path: lists, times: ALWAYS, answer: { status: 503 } });
    expect((await update()).code).toBe(1);
    bed.sandbox.faults.clear();
    expect(tip()).not.toBe(before);
    // Another push than that one.
    await clone.git('commit', '--quiet', '--amend', '--message=Three');
    const again = await expectAccepted(bed, { upstream, clone }, await update());
    expect(again.pull.number).toBe(first.pull.number);
  });
});

describe('a delayed update', exhaustive, () => {
  it('is refused when its time has come if they were faster, and its page says how to go on', async () => {
    const story = await fixed();
    const { clone, first, fix, update, tip, upstream } = story;
    await clone.commit({ message: 'Two\n' });
    const name = delayedAs(await update('delay=1h'));
    const theirs = await fix();
    await expect.poll(async () => (await pass(bed), pageOf(bed, name))).toMatch(/^200 Failed\n/);
    expect(tip()).toBe(theirs);
    const page = await pageOf(bed, name);
    expect(page).toContain(`${theirs.slice(0, 12)} Fix the typo`);
    expect(page).toContain(`git pull --rebase ${upstream.url} refs/pull/${first.pull.number}/head`);
    const [overwrite = ''] =
      /git push -o pr-hash=\w+ -o overwrite \S+ HEAD:refs\/heads\/\S+/.exec(page) ?? [];
    expect(await type(story, [overwrite], 'git push')).toContain('has been updated');
    expect(tip()).not.toBe(theirs);
  });

  it.each([
    [[], 'One,Fix the typo,Two'],
    [['sign-off'], 'One,Fix the typo,Two'],
    [['squash'], 'Two'],
    [['strip-trails'], 'One,Fix the typo,Two'],
  ])('is published once it has their commits, with the options %j', async (options, titles) => {
    const story = await fixed();
    const { clone, fix, update, upstream, tip, on } = story;
    const trail = options.includes('strip-trails')
      ? '\nChange-Id: I0123456789abcdef0123456789abcdef01234567\n'
      : '';
    const theirs = await fix(`Fix the typo\n${trail}`);
    await clone.git('pull', '--quiet', '--rebase', upstream.url, `refs/pull/${on.number}/head`);
    await clone.commit({ message: 'Two\n' });
    const name = delayedAs(await update('delay=1h', ...options));
    expect(await published(bed, name)).toMatch(/^200 Published\n/);
    expect(tip()).not.toBe(theirs);
    const log = await gitIn(story.first.forkPath, 'log', '--reverse', '--format=%s', `main..${tip()}`);
    expect(log.split('\n').join()).toBe(titles);
  });

  it('with overwrite is refused: nobody knows what will be there', async () => {
    const { clone, update } = await fixed();
    await clone.commit({ message: 'Two\n' });
    const pushed = await update('delay=1h', 'overwrite');
    expect(pushed.code).toBe(1);
    expect(pushed.stderr).toContain('overwrite cannot wait');
  });
});

describe('the form', exhaustive, () => {
  it('does not change a pull request that somebody else has changed', async () => {
    const upstream = await bed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = new FormClient(bed.service.url, bed.person());
    const path = `/v1/gh/${upstream.fullName}/change`;
    const form = await client.get(`${path}?path=a.txt`);
    const typed = { title: 'Two', description: '', step: 'open' };
    const done = await client.post(path, { ...form.fields, ...typed, text: 'two\n' });
    const hash = savedIn(done.html, 'Hash');
    const { number } = await bed.host.onlyPull(upstream);
    const again = await client.get(`${path}?path=a.txt&pr_hash=${hash}`);
    const on = { owner: upstream.owner, repo: upstream.name, number };
    const onto = await upstream.tip();
    const theirs = await bed.sandbox.maintainer.commitTo(on, 'Theirs\n', { 'a.txt': 'three\n' }, onto);
    const refused = await client.post(path, { ...again.fields, ...typed, text: 'four\n' });
    expect([refused.status, refused.problem]).toEqual([409, expect.stringMatching(/somebody else/i)]);
    const closed = await client.get(`${path}?path=a.txt&pr_hash=${hash}`);
    expect([closed.status, closed.heading]).toEqual([409, 'Somebody else has changed this pull request']);
    expect((await bed.host.onlyPull(upstream)).headSha).toBe(theirs);
  });
});

/** Publishes one commit, and puts what a right guess at it makes where `ref` says. */
async function guessed(ref: string) {
  const story = await fixed();
  const { clone, upstream } = story;
  const original = (await clone.git('rev-parse', 'HEAD')).trim();
  await clone.git('push', '--quiet', upstream.path, `HEAD:${ref}`);
  await clone.commit({ message: 'Two\n', files: { 'two.txt': 'two\n' } });
  return { ...story, original, says: `stands on ${original.slice(0, 12)}, which upstream has` };
}

it(
  'a guess at a commit on the branch of its pull request is answered alike, whether it is right or wrong',
  exhaustive,
  async () => {
    const answers: string[] = [];
    for (const isRight of [true, false]) {
      const { clone, first, update } = await fixed();
      bed.tripwire.tolerate('what a maintainer has pushed', () => true);
      const original = (await clone.git('rev-parse', 'HEAD')).trim();
      if (!isRight) await clone.git('commit', '--quiet', '--amend', '--no-edit', '--date=@1700000000 +0000');
      const guess = (await clone.git('rev-parse', 'HEAD')).trim();
      const branch = `refs/heads/${first.banner.branch}`;
      await clone.git('push', '--quiet', '--force', first.forkPath, `${guess}:${branch}`);
      await clone.git('reset', '--quiet', '--hard', original);
      await clone.commit({ message: 'Two\n', files: { 'two.txt': 'two\n' } });
      const lines = expectRefused(await update()).join('\n');
      expect(lines).toContain(`${guess.slice(0, 12)} One`);
      answers.push(lines.replaceAll(/hello\d+|[0-9a-f]{12}|\d+\/head/g, '<>'));
    }
    expect(answers[0]).toBe(answers[1]);
  },
);

it.each([
  ['a tag', 'refs/tags/v1'],
  ['where another branch begins', 'refs/heads/old'],
])('work on a commit of a year ago of the default branch, at %s, is no guess', exhaustive, async (_, ref) => {
  const upstream = await bed.createUpstream({ commits: 0 });
  const start = await upstream.grow({ count: 3, ageDays: 400 });
  await upstream.grow({ count: 3, ageDays: 200 });
  await upstream.grow({ count: 2 });
  await gitIn(upstream.path, 'update-ref', ref, start);
  if (ref === 'refs/heads/old') await upstream.grow({ branch: 'old' });
  const clone = await bed.person().copy(upstream);
  await clone.git('reset', '--quiet', '--hard', start);
  await clone.commit();
  expect((await clone.push('-o', 'preview', 'origin', 'HEAD:topic')).stderr).not.toContain('stands on');
});

describe('a guess at a commit, which somebody has pushed to upstream,', exhaustive, () => {
  it('is told before an update confirms it, with a way out', async () => {
    const { clone, first, update, tip, original, says } = await guessed('refs/heads/wip');
    const lines = remoteLines(await update('preview'));
    expect(lines.join('\n')).toContain(`${says} on its branch "wip"`);
    await type({ clone }, lines, 'git fetch');
    const pushed = await update();
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(pushed.stderr).not.toContain('which upstream has');
    const parent = await gitIn(first.forkPath, 'rev-parse', `${tip()}~1`);
    expect(parent.trim()).not.toBe(original);
  });

  it.each([
    ['the only branch that has it, which a new pull request is for', 'refs/heads/wip', 'on its branch "wip"'],
    ['the branch that is pushed to', 'refs/heads/topic', 'on its branch "topic"'],
    ['a tag', 'refs/tags/v1', 'as its tag "v1"'],
  ])('is told if it is %s, with a way out', async (_, ref, where) => {
    const { clone, upstream, original, says } = await guessed(ref);
    const preview = () => clone.push('-f', '-o', 'preview', 'origin', 'HEAD:topic');
    const lines = remoteLines(await preview());
    expect(lines.join('\n')).toContain(`${says} ${where}`);
    await type({ clone }, lines, 'git fetch');
    expect((await preview()).stderr).not.toContain('which upstream has');
    const onto = await clone.git('rev-list', `${await upstream.tip()}..HEAD`);
    expect(onto.trim().split('\n')).toHaveLength(2);
    expect(onto).not.toContain(original);
  });
});
