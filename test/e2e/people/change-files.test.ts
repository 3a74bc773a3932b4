/**
 * A change of several files, edited one after the other without script: what was typed is carried
 * from step to step, and all of it becomes public together.
 */
import { expect, it } from 'vitest';
import { encodeEdits, MOST_FILES, parseEdits } from '../../../src/edit/file-edits.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { type FormAnswer, FormClient, savedIn, typedIn } from '../support/form-client.ts';
import { gitIn } from '../support/objects.ts';
import { useTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';

const bed = useTestBed();

const FILES = { 'docs/guide.md': 'one\n', 'docs/old.md': 'old\n', 'src/a.ts': 'a\n', logo: 'x\0y' };

/** A browser that holds the form of a change. */
class Editor {
  readonly #client = new FormClient(bed.service.url, bed.person());
  readonly path: string;
  answer!: FormAnswer;

  constructor({ fullName }: Upstream) {
    this.path = `/v1/gh/${fullName}/change`;
  }

  async open(file: string): Promise<void> {
    this.answer = await this.#client.get(`${this.path}?path=${encodeURIComponent(file)}`);
  }

  /** Sends what the form holds and what is typed besides. */
  async send(fields: Readonly<Record<string, string>>): Promise<FormAnswer> {
    const { html, fields: held } = this.answer;
    const shown = ['text', 'title', 'description'].filter((name) => html.includes(` name="${name}"`));
    const typed = Object.fromEntries(shown.map((name) => [name, typedIn(html, name)]));
    this.answer = await this.#client.post(this.path, { ...typed, ...held, ...fields });
    return this.answer;
  }
}

async function begun(file = 'docs/guide.md') {
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: FILES });
  const editor = new Editor(upstream);
  await editor.open(file);
  return { upstream, editor };
}

const hashIn = ({ html }: FormAnswer): string => savedIn(html, 'Hash');
const title = ({ html }: FormAnswer): string => typedIn(html, 'title');

it('edits, adds and removes files, and opens one commit with all of them', async () => {
  const { upstream, editor } = await begun();
  expect(title(editor.answer)).toBe('Update guide.md');
  const list = await editor.send({ text: 'one\ntwo\n', step: 'another' });
  expect([list.heading, list.problem]).toEqual(['Change another file, too', '']);
  const folder = await editor.send({ chosen: 'docs' });
  expect(folder.html).toMatch(/value="docs\/old\.md" class="link"/);
  const removed = await editor.send({ step: 'remove-named', named: 'docs/old.md' });
  expect([removed.heading, title(removed)]).toEqual([
    'Remove docs/old.md',
    'Update guide.md and 1 more file',
  ]);
  await editor.send({ step: 'another' });
  const added = await editor.send({ step: 'add', named: 'docs/new.md' });
  expect([added.heading, title(added)]).toEqual(['Add docs/new.md', 'Update guide.md and 2 more files']);
  const preview = await editor.send({ text: 'new\n', title: 'Tidy up', step: 'preview' });
  expect(preview.heading, preview.problem).toBe('What becomes public');
  for (const caption of ['The new file', 'The file is removed', 'The difference'])
    expect(preview.html).toContain(caption);
  const done = await editor.send({ step: 'open' });
  expect(done.heading, done.problem).toBe('Your pull request is open');
  const [fork, branch] = [bed.host.forkPath(upstream) ?? '', `anon-${hashIn(done)}`];
  expect(await gitIn(fork, 'diff', '--name-status', `${branch}^`, branch)).toBe(
    'M\tdocs/guide.md\nA\tdocs/new.md\nD\tdocs/old.md',
  );
  expect(await gitIn(fork, 'cat-file', 'blob', `${branch}:docs/guide.md`)).toBe('one\ntwo');
  expect(await bed.host.onlyPull(upstream)).toMatchObject({ title: 'Tidy up' });
});

it('keeps what was typed when another file of the change is edited, or one is taken out', async () => {
  const { editor } = await begun();
  await editor.send({ text: 'two\n', step: 'another' });
  await editor.send({ step: 'find', named: 'a.ts' });
  const found = await editor.send({ chosen: 'src/a.ts' });
  expect([found.heading, typedIn(found.html, 'text')]).toEqual(['Change src/a.ts', 'a\n']);
  const back = await editor.send({ text: 'b\n', step: 'file-0' });
  expect([back.heading, typedIn(back.html, 'text')]).toEqual(['Change docs/guide.md', 'two\n']);
  // A file that is chosen twice is the one that is there.
  await editor.send({ step: 'another' });
  const again = await editor.send({ chosen: 'src/a.ts' });
  expect(typedIn(again.html, 'text')).toBe('b\n');
  const alone = await editor.send({ step: 'out-0' });
  expect([title(alone), alone.html.includes('Also in this change')]).toEqual(['Update a.ts', false]);
  const gone = await editor.send({ step: 'remove' });
  expect([gone.heading, title(gone)]).toEqual(['Remove src/a.ts', 'Remove a.ts']);
  const kept = await editor.send({ step: 'keep' });
  expect([kept.heading, typedIn(kept.html, 'text')]).toEqual(['Change src/a.ts', 'b\n']);
});

it('says what is wrong with a file of it, and loses nothing', async () => {
  const { upstream, editor } = await begun();
  await editor.send({ text: 'two\n', step: 'another' });
  const binary = await editor.send({ chosen: 'logo' });
  expect(binary.problem).toBe('This file is not text: it contains NUL bytes. Change it with Git.');
  const invalid = await editor.send({ step: 'add', named: '../x' });
  expect([invalid.status, invalid.problem]).toEqual([400, 'The path must not contain “.” or “..”.']);
  await editor.send({ chosen: 'src/a.ts' });
  expect((await editor.send({ step: 'preview' })).problem).toBe('You have not changed src/a.ts yet.');
  await editor.send({ text: 'b\n', step: 'preview' });
  // Somebody else changes the file that is not shown.
  await upstream.grow({ files: { 'docs/guide.md': 'theirs\n' } });
  const theirs = await editor.send({ step: 'open' });
  expect([theirs.status, theirs.heading]).toEqual([409, 'Change docs/guide.md']);
  expect(theirs.html).toContain('What others have changed');
  expect(typedIn(theirs.html, 'text')).toBe('two\n');
  expect(await bed.host.pulls(upstream)).toEqual([]);
  const done = await editor.send({ step: 'open' });
  expect(done.heading, done.problem).toBe('Your pull request is open');
});

it('leads on to the folders from a file that it has removed', async () => {
  const { editor } = await begun('docs/old.md');
  await editor.send({ step: 'remove' });
  await editor.send({ step: 'preview' });
  const done = await editor.send({ step: 'open' });
  expect(done.html).toContain(`href="${editor.path}?pr_hash=${hashIn(done)}">Edit again</a>`);
});

it('removes a file that is no text, without showing it', exhaustive, async () => {
  const { upstream, editor } = await begun();
  await editor.send({ text: 'two\n', step: 'another' });
  await editor.send({ step: 'remove-named', named: 'logo' });
  const preview = await editor.send({ step: 'preview' });
  expect(preview.html).toContain('It is no text that can be shown here.');
  const done = await editor.send({ step: 'open' });
  const branch = `anon-${hashIn(done)}`;
  expect(await gitIn(bed.host.forkPath(upstream) ?? '', 'diff', '--name-status', `${branch}^`, branch)).toBe(
    'M\tdocs/guide.md\nD\tlogo',
  );
});

it('takes so many files and no more, and refuses what the service has not written', async () => {
  const { editor } = await begun();
  const many = Array.from({ length: MOST_FILES - 1 }, (_, index) => ({
    path: `new-${index}.md`,
    blob: '',
    text: `${index}\n`,
    isRemoved: false,
  }));
  editor.answer.fields['others'] = encodeEdits(many);
  const full = await editor.send({ text: 'two\n', chosen: 'src/a.ts' });
  expect(full.problem).toBe(
    'A change has at most 10 files here. Take one out, or use Git for larger changes.',
  );
  expect(parseEdits(full.fields['others'] ?? '')).toEqual(many);
  expect((await editor.send({ step: 'preview' })).heading).toBe('What becomes public');
  for (const others of ['{', JSON.stringify([{ path: '../x' }]), JSON.stringify([...many, ...many])]) {
    const refused = await editor.send({ others, step: 'preview' });
    expect([refused.status, refused.problem]).toEqual([
      400,
      'The further files of this change cannot be read. Begin a new change.',
    ]);
  }
  const twice = encodeEdits([{ path: 'docs/guide.md', blob: '', text: 'x\n', isRemoved: false }]);
  expect((await editor.send({ others: twice, step: 'preview' })).problem).toBe(
    'docs/guide.md is in this change twice. Take one of both out.',
  );
});

it('asks the host for no pull request whose hash was made up', async () => {
  const { editor } = await begun();
  const before = bed.host.requests.length;
  const made = 'x/../../../user';
  const list = await editor.send({ pr_hash: made, step: 'another' });
  expect([list.status, list.problem]).toEqual([400, 'A hash has 8 to 40 hexadecimal characters.']);
  const asked = bed.host.requests.slice(before).map(({ path }) => decodeURIComponent(path));
  expect(asked.filter((path) => path.includes(made))).toEqual([]);
});

it('says which files are too large together', exhaustive, async () => {
  const upstream = await bed.createUpstream();
  const large = Array.from({ length: 5 }, (_, at) => [`${at}.txt`, `${at}\n${'x'.repeat(999_000)}`]);
  await upstream.grow({ files: Object.fromEntries(large) as Record<string, string> });
  const editor = new Editor(upstream);
  await editor.open('0.txt');
  await editor.send({ step: 'remove' });
  // A removed file needs no text.
  for (const [path = ''] of large.slice(1)) {
    await editor.send({ text: '', step: 'another' });
    await editor.send({ step: 'remove-named', named: path });
  }
  const refused = await editor.send({ text: '', step: 'preview' });
  expect([refused.status, refused.problem]).toEqual([
    409,
    'These files are too large together. Take some out, or use Git for larger changes.',
  ]);
});

it('tells whether it has found a name, in the form', async () => {
  const { editor } = await begun();
  expect((await editor.send({ text: 'two\n', step: 'search' })).problem).toBe(
    'Write the name that is to be searched for in the field “Your name”.',
  );
  const clean = await editor.send({ own_name: 'Zoe Quist', step: 'search' });
  expect(clean.heading).toBe('Change docs/guide.md');
  expect(clean.html).toContain('<p>Searched for “Zoe Quist”: not found.</p>');
  expect(clean.html).not.toContain('The service searched for');
  const found = await editor.send({ text: 'by zoe quist\n', own_name: 'Zoe Quist', step: 'search' });
  expect(found.problem).toMatch(/^Your name would become public\./);
  expect(found.html).not.toContain('not found.');
});

it('begins as a link or a form of another site fills it in, and posts nothing', async () => {
  const { upstream } = await begun();
  const client = new FormClient(bed.service.url, bed.person());
  const query = new URLSearchParams({
    path: 'docs/guide.md',
    title: 'Correct a typo',
    description: 'It is <b>“one”</b>.',
    text: 'uno\r\n',
  });
  const form = await client.get(`/v1/gh/${upstream.fullName}/change?${query.toString()}`);
  expect(['title', 'description', 'text'].map((name) => typedIn(form.html, name))).toEqual([
    'Correct a typo',
    'It is <b>“one”</b>.',
    'uno\n',
  ]);
  const shown = await client.post(`/v1/gh/${upstream.fullName}/change`, {
    ...form.fields,
    title: 'Correct\u200b a typo',
    text: 'uno\u200d\n',
    step: 'preview',
  });
  expect(shown.html).toContain('It has characters that nobody sees: [U+200D], [U+200B].');
  expect(await bed.host.pulls(upstream)).toEqual([]);
});
