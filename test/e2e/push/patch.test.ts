/** A patch that is posted becomes the commits that `git am` would make, and then a push. */
import { describe, expect, it } from 'vitest';
import { type Contribution, contribute, expectAccepted } from '../support/contribution.ts';
import { postTo } from '../support/door.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { bannerOf } from '../support/push-output.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();

async function patchOf({ clone, person }: Pick<Contribution, 'clone' | 'person'>, ...args: string[]) {
  return person.mustGit(clone.path, ['format-patch', '--stdout', ...args]);
}

const post = ({ person, upstream }: Contribution, body: string | Uint8Array, options = '', headers = {}) =>
  postTo(bed, person, upstream, 'patch', body, options, headers);

it('opens a pull request with a commit for each mail', async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ message: 'One\n', files: { 'dir/größe.txt': 'a\nb\n' } });
  await clone.commit({
    message: 'Two ä\n\nText.\n',
    files: { 'dir/größe.txt': 'a\nb', 'b.bin': Buffer.from('\0\u0001') },
  });
  const answered = await post(contribution, await patchOf(contribution, 'origin/main'));
  expect(answered.status, answered.text).toBe(200);
  const { pull, commits } = await expectAccepted(bed, contribution, answered.pushed);
  expect(pull).toMatchObject({ title: 'Two ä', body: 'Text.', base: 'main' });
  expect(commits).toHaveLength(2);
});

it('takes a diff with its message in the address, and a base', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await upstream.grow({ branch: 'next', from: 'main' });
  await clone.commit({ files: { 'a.txt': 'new\n' } });
  const diff = await clone.git('diff', '--binary', 'origin/main');
  const answered = await post(contribution, `${diff}\n`, 'title=Add%20a&description=One%0ATwo&base=next');
  expect(answered.status, answered.text).toBe(200);
  expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Add a', body: 'One\nTwo', base: 'next' });
});

it('updates a pull request for another branch, which stays for that one', async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await upstream.grow({ branch: 'next', from: 'main' });
  await clone.git('fetch', 'origin');
  await clone.git('reset', '--hard', 'origin/next');
  await clone.commit({ files: { 'a.txt': 'new\n' } });
  const opened = await post(contribution, await patchOf(contribution, 'origin/next'), 'base=next');
  const { prHash } = bannerOf(opened.pushed);
  await clone.commit({ files: { 'a.txt': 'newer\n' } });
  const updated = await post(contribution, await patchOf(contribution, 'origin/next'), `pr-hash=${prHash}`);
  expect(updated.status, updated.text).toBe(200);
  expect(await bed.host.onlyPull(upstream)).toMatchObject({ base: 'next', state: 'open' });
});

it('with a key opens a pull request in each repository that it is sent to, and none twice', async () => {
  const { contribution, patch } = await patched();
  const headers = { 'Idempotency-Key': 'a-key-for-two-repositories' };
  const other = await bed.createUpstream();
  for (const upstream of [contribution.upstream, other, other]) {
    const answered = await post({ ...contribution, upstream }, patch, '', headers);
    expect(answered.status, answered.text).toBe(200);
    expect(answered.text).toContain((await bed.host.onlyPull(upstream)).url);
  }
});

it('takes nearly ten megabytes, of one file or of many', exhaustive, async () => {
  const large = await contribute(bed);
  await large.clone.commit({ files: { 'large.txt': 'some words of a line\n'.repeat(430_000) } });
  const one = await patchOf(large, 'origin/main');
  expect(one.byteLength).toBeGreaterThan(9 * 1024 * 1024);
  expect(await post(large, one, 'preview')).toMatchObject({ status: 200 });
  const many = await contribute(bed);
  const files = Array.from({ length: 1_000 }, (_, index) => [
    `dir-${index % 30}/file-${index}`,
    `${index}\n`.repeat(1_500),
  ]);
  await many.clone.commit({ files: Object.fromEntries(files) as Record<string, string> });
  const answered = await post(many, await patchOf(many, 'origin/main'), 'preview');
  expect(answered.status, answered.text).toBe(200);
});

it('with warnings is answered with the command that accepts them', async () => {
  const contribution = await contribute(bed);
  await contribution.clone.commit({ files: { '.DS_Store': 'x\n' } });
  const asked = await post(contribution, await patchOf(contribution, 'origin/main'), 'base=main');
  expect(asked.status, asked.text).toBe(409);
  expect(asked.text).toMatch(/^curl --data-binary '@<your file>' '.*\/patch\?base=main&yes=leftovers'$/m);
  const diff = await contribution.person.mustGit(contribution.clone.path, ['diff', 'origin/main']);
  const again = await post(contribution, diff, 'title=A%20file&description=Of%20mine');
  expect(again.text).toMatch(/\/patch\?yes=leftovers&title=A%20file&description=Of%20mine'$/m);
});

it('searches for the author and for who sends the mail', async () => {
  const contribution = await contribute(bed);
  const { clone, person, upstream } = contribution;
  await clone.commit({ files: { 'a.txt': `by ${person.authorEmail}\n`, 'b.txt': 'by jane@corp.example\n' } });
  const patch = await patchOf(contribution, '--from=Jane Corp <jane@corp.example>', 'origin/main');
  const answered = await post(contribution, patch);
  expect(answered).toMatchObject({ status: 400, text: expect.stringContaining('push rejected:') });
  expect(answered.text).toContain('a.txt');
  expect(answered.text).toContain('b.txt');
  expect(await bed.host.pulls(upstream)).toEqual([]);
});

async function patched() {
  const contribution = await contribute(bed);
  await contribution.clone.commit({ files: { 'a.txt': 'new\n' } });
  return { contribution, patch: (await patchOf(contribution, 'origin/main')).toString() };
}

/** How often the host was asked with Git about the repository. */
const readsOf = ({ upstream }: Contribution): number =>
  bed.host.requestsFor(upstream, 'POST', /\/git-upload-pack$/).length +
  bed.host.requestsFor(upstream, 'GET', /\/info\/refs/).length;

describe('nothing is asked for about a patch', () => {
  it('that is the sixth of its network within an hour', exhaustive, async () => {
    const { contribution, patch } = await patched();
    const send = (name: string) => post(contribution, patch.replaceAll('a.txt', name));
    for (const name of ['1', '2', '3', '4', '5']) expect(await send(name)).toMatchObject({ status: 200 });
    await bed.host.settle();
    const before = readsOf(contribution);
    const refused = { status: 429, text: expect.stringContaining('push rejected: rate limit exceeded') };
    expect(await send('6')).toMatchObject(refused);
    expect(readsOf(contribution)).toBe(before);
  });

  it.each([
    ['that is to wait for room', 'wait', {}, 'a patch cannot wait'],
    ['whose delay is misspelt', 'dealy=1d', {}, 'did you mean delay'],
    ['whose delay is none', 'delay=1+day', {}, 'delay must be'],
    ['whose key is too short', '', { 'Idempotency-Key': 'short' }, '16 to 255 visible ASCII'],
  ])('%s', async (_, options, headers, words) => {
    const { contribution, patch } = await patched();
    const answered = await post(contribution, patch, options, headers);
    expect(answered).toMatchObject({ status: 400, text: expect.stringContaining(words) });
    expect(readsOf(contribution)).toBe(0);
  });
});

describe('is refused, and nothing reaches the host:', () => {
  it.each([
    ['a patch that waits', '?delay=1h', (patch: string) => patch, 400, 'at once, use &delay=0s instead'],
    [
      'a patch that waits for two things',
      '?delay=1h&wait',
      (patch: string) => patch,
      400,
      'at once, leave out wait, and use &delay=0s instead',
    ],
    ['a branch that is not there', '?base=nowhere', (patch: string) => patch, 400, 'there is no such base'],
    ['a branch that is misspelt', '?base=mian', (patch: string) => patch, 400, 'Did you mean "main"?'],
    [
      'a diff without a message',
      '',
      (patch: string) => patch.slice(patch.indexOf('diff --git')),
      400,
      '?title=',
    ],
    ['a bundle', '', () => '# v2 git bundle\n', 400, 'Send it to /bundle'],
    ['nothing', '', () => '', 400, 'neither a patch nor a diff'],
    ['a path that leads out', '', (patch: string) => patch.replaceAll('a.txt', '../a.txt'), 400, 'must not'],
    ['too much', '', (patch: string) => patch + 'x'.repeat(10 * 1024 * 1024), 413, 'over 10 MB'],
  ])('%s', async (_, options, change, status, words) => {
    const { contribution, patch } = await patched();
    const answered = await post(contribution, change(patch), options.slice(1));
    expect(answered).toMatchObject({ status, text: expect.stringContaining(words) });
    expect(await bed.host.pulls(contribution.upstream)).toEqual([]);
  });

  it('one that does not apply, with what stands there', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit({ files: { 'a.txt': '1\n2\n3\n' } });
    const base = await clone.git('rev-parse', 'HEAD');
    await clone.commit({ files: { 'a.txt': '1\nzwei\n3\n' } });
    const first = await clone.git('diff', 'origin/main', base);
    expect((await post(contribution, `${first}\n`, 'title=A')).status).toBe(200);
    const answered = await post(contribution, await patchOf(contribution, base));
    expect(answered).toMatchObject({
      status: 400,
      text: expect.stringContaining('a.txt is no file upstream'),
    });
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });
});
