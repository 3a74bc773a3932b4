/**
 * A bundle or a patch from a browser without script: chosen, looked at, sent; a large one chosen
 * again; and whatever else people and programs may send.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { type Contribution, contribute } from '../support/contribution.ts';
import { type FormAnswer, FormClient, savedIn, wordsOf } from '../support/form-client.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();
const pathOf = ({ upstream }: Contribution): string => `/v1/gh/${upstream.fullName}/send-file`;

async function began() {
  const contribution = await contribute(bed);
  const client = new FormClient(bed.service.url, contribution.person);
  return { ...contribution, contribution, client, path: pathOf(contribution) };
}

const made = ({ clone, person }: Contribution, ...args: string[]) => person.mustGit(clone.path, args);
const bundleOf = (contribution: Contribution) =>
  made(contribution, 'bundle', 'create', '-', 'origin/main..HEAD');
const patchOf = (contribution: Contribution) => made(contribution, 'format-patch', '--stdout', 'origin/main');

const keyIn = ({ html }: FormAnswer): string => savedIn(html, 'Key');

describe.each([
  ['a bundle', bundleOf],
  ['a patch', patchOf],
])('%s', (_, make) => {
  it('is looked at, and becomes a pull request', async () => {
    const { clone, client, path, contribution, upstream } = await began();
    await clone.commit({ message: 'One\n', files: { 'dir/a.txt': 'one\ntwo\n' } });
    await clone.commit({
      message: 'Two ä\n\nText.\n',
      files: { 'dir/a.txt': 'one\nzwei\n', '.DS_Store': 'x' },
    });
    const form = await client.get(path);
    expect([form.status, form.heading]).toEqual([200, 'Send a bundle or a patch']);
    const preview = await client.postFile(path, { ...form.fields, base: 'main' }, await make(contribution));
    expect([preview.status, preview.heading], preview.html).toEqual([200, 'What becomes public']);
    const words = wordsOf(preview);
    for (const shown of ['Two ä', 'Text.', 'One', 'New: dir/a.txt', 'zwei', 'leftovers'])
      expect(words).toContain(shown);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(preview.fields).toMatchObject({ yes: 'leftovers', step: 'publish', base: 'main' });
    const opened = await client.postFile(path, preview.fields, null);
    expect([opened.status, opened.heading], opened.problem).toEqual([200, 'Your pull request is open']);
    expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Two ä', body: 'Text.', base: 'main' });
    const next = `${path}?pr_hash=${savedIn(opened.html, 'Hash')}`;
    expect(opened.html).toContain(`<a href="${next}">Send a new file with all its commits</a>`);
    expect(wordsOf(await client.get(next))).toContain('with all commits of your pull request');
    const again = await client.postFile(path, preview.fields, null);
    expect([again.heading, keyIn(again)]).toEqual(['Your pull request is open', keyIn(opened)]);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });
});

it('a diff has its message in the form, and its author’s name is searched for', async () => {
  const { clone, client, path, contribution, upstream } = await began();
  await clone.commit({ files: { 'a.txt': 'by Tove Example\n' } });
  const { fields } = await client.get(path);
  const send = async (more: object) =>
    client.postFile(path, { ...fields, ...more }, await made(contribution, 'diff', 'origin/main'));
  expect((await send({})).problem).toContain('title');
  // A choice that was made stays.
  const later = await send({ title: 'Add a', delay: '1d' });
  expect(later.problem).toContain('A patch cannot wait');
  expect(later.html).toContain('<option value="1d" selected>');
  const texts = { title: 'Add a', description: 'One\nTwo' };
  expect((await send({ ...texts, own_name: 'Tove Example' })).problem).toContain('name');
  const preview = await send(texts);
  expect((await client.postFile(path, preview.fields, null)).heading).toBe('Your pull request is open');
  expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Add a', body: 'One\nTwo' });
});

it('an update sends all commits again', exhaustive, async () => {
  const { clone, client, path, contribution, upstream } = await began();
  await clone.commit({ message: 'One\n' });
  const send = async (address: string) => {
    const form = await client.get(address);
    const preview = await client.postFile(path, form.fields, await bundleOf(contribution));
    const isKept = /The title stays as it is.*The description stays as it is/.test(wordsOf(preview));
    expect(isKept).toBe(address !== path);
    return client.postFile(path, preview.fields, null);
  };
  const opened = await send(path);
  const hash = savedIn(opened.html, 'Hash');
  await clone.commit({ message: 'Two\n' });
  expect((await send(`${path}?pr_hash=${hash}`)).heading).toBe('Your pull request is updated');
  expect(await bed.host.pulls(upstream)).toHaveLength(1);
});

it('commits that are open already are told, with the form that updates them', exhaustive, async () => {
  const { clone, client, path, contribution } = await began();
  await clone.commit({ message: 'One\n' });
  const look = async () =>
    client.postFile(path, (await client.get(path)).fields, await bundleOf(contribution));
  const opened = await client.postFile(path, (await look()).fields, null);
  await clone.commit({ message: 'Two\n' });
  const words = wordsOf(await look());
  expect(words).toContain('Commits of this file are open already: see its page');
  expect((await look()).html).toContain(`href="${path}?pr_hash=${savedIn(opened.html, 'Hash')}"`);
  expect(words).not.toMatch(/If this is|To update that one/);
});

it('a large file is chosen again, and only the same one is published', exhaustive, async () => {
  const { clone, client, path, contribution, upstream } = await began();
  await clone.commit({ files: { 'large.bin': randomBytes(700_000) } });
  const bundle = await bundleOf(contribution);
  const form = await client.get(path);
  const preview = await client.postFile(path, form.fields, bundle);
  expect(preview.heading, preview.html).toBe('What becomes public');
  expect(preview.fields).not.toHaveProperty('held');
  expect(wordsOf(preview)).toContain('Choose the same file again');
  await clone.commit({ files: { 'other.txt': 'x\n' } });
  const other = await client.postFile(path, preview.fields, await bundleOf(contribution));
  expect([other.status, other.problem]).toEqual([400, expect.stringContaining('not the one')]);
  expect(await bed.host.pulls(upstream)).toEqual([]);
  const opened = await client.postFile(path, preview.fields, bundle);
  expect([opened.status, opened.heading], opened.problem).toEqual([200, 'Your pull request is open']);
});

it('what waits shows no files, of which the host would be asked now', exhaustive, async () => {
  const { clone, client, path, contribution, upstream } = await began();
  await clone.commit({ files: { 'a.txt': 'new\n' } });
  const form = await client.get(path);
  const delayed = { ...form.fields, delay: '3h' };
  const patch = await client.postFile(path, delayed, await patchOf(contribution));
  expect([patch.status, patch.problem]).toEqual([400, expect.stringContaining('send a bundle')]);
  const preview = await client.postFile(path, delayed, await bundleOf(contribution));
  expect(wordsOf(preview)).toContain('Its files are not shown');
  expect(wordsOf(preview)).toContain('It becomes public within some hours: between three and six.');
  const waits = await client.postFile(path, preview.fields, null);
  expect([waits.status, waits.heading], waits.problem).toEqual([200, 'Your change waits']);
  expect(await bed.host.pulls(upstream)).toEqual([]);
});

describe('nothing is sent', () => {
  it.each([
    ['from another site', (form: FormAnswer) => form.fields, { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['without a token', () => ({ token: '' }), {}, 403],
    ['as another form', (form: FormAnswer) => form.fields, { 'Content-Type': 'text/plain' }, 415],
  ])('%s', async (_, fieldsOf, headers, status) => {
    const { clone, client, path, contribution, upstream } = await began();
    await clone.commit();
    const form = await client.get(path);
    const patch = await patchOf(contribution);
    const answer = await client.postFile(path, { ...fieldsOf(form), step: 'publish' }, patch, headers);
    expect(answer.status, answer.html).toBe(status);
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it.each([
    ['no file', Buffer.alloc(0), 400, 'Choose the file'],
    ['what is neither', Buffer.from('%PDF-1.7\n'), 400, 'neither a patch nor a diff'],
    ['half a bundle', Buffer.from('# v2 git bundle\n'), 400, 'ends in its header'],
    ['a patch that is too large', Buffer.alloc(11 * 1024 * 1024, 'From x\n'), 413, 'over 10 MB'],
  ])('of %s', exhaustive, async (_, file, status, words) => {
    const { client, path, upstream } = await began();
    const form = await client.get(path);
    const answer = await client.postFile(path, { ...form.fields, title: 'kept' }, file);
    expect([answer.status, answer.problem], answer.html).toEqual([status, expect.stringContaining(words)]);
    expect(answer.html).toContain('value="kept"');
    expect(await bed.host.pulls(upstream)).toEqual([]);
  });

  it('where pull requests are not accepted, and no field is shown', exhaustive, async () => {
    const { client, path, upstream } = await began();
    await upstream.grow({ files: { '.gitveil.yml': 'accept: [issues]\n' } });
    const form = await client.get(path);
    expect(form.html).not.toContain('type="file"');
    expect(form.problem).not.toBe('');
  });
});
