/**
 * Random work of real Git, pushed to one repository, and sent as a bundle to its twin: both publish
 * the same trees, messages and parents.
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { type Accepted, type Contribution, expectAccepted } from '../support/contribution.ts';
import { postTo } from '../support/door.ts';
import { useTestBed } from '../support/test-bed.ts';

const bed = useTestBed();

const NAMES = ['a.txt', 'dir/b.txt', 'dir/deep/c.bin', 'größe "q".txt', 'with space'];
const content = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes));
const step = fc.record({
  kind: fc.constantFrom('write', 'write', 'write', 'delete', 'rename', 'mode', 'empty', 'merge'),
  name: fc.constantFrom(...NAMES),
  content,
  title: fc.stringMatching(/^[A-Z][a-zä ]{1,20}[a-z]$/),
  body: fc.constantFrom('', 'Words.\n', 'Two\n\nparagraphs ä\n'),
});
const story = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
  args: fc.constantFrom(
    ['-', 'origin/main..topic'],
    ['--version=3', '-', 'origin/main..topic'],
    ['-', 'topic', '--not', '--remotes'],
    ['-', 'origin/main..HEAD'],
  ),
  delta: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

const LONG = Array.from({ length: 400 }, (_, line) => `A line that stays, number ${line}\n`).join('');

async function take(
  { clone }: Contribution,
  { kind, name, content: bytes, title, body }: Step,
): Promise<void> {
  const message = `${title}\n${body === '' ? '' : `\n${body}`}`;
  const make = (...args: string[]) => clone.git('commit', '--quiet', '--allow-empty', '-m', message, ...args);
  const isThere = (await clone.git('ls-files', '--', name)) !== '';
  if (kind === 'write' || (!isThere && kind !== 'empty' && kind !== 'merge'))
    return void (await clone.commit({ message, files: { [name]: bytes } }));
  if (kind === 'delete') await clone.git('rm', '--quiet', name);
  if (kind === 'rename') await clone.git('mv', '--force', name, `${name}-moved`);
  if (kind === 'mode') await clone.git('update-index', '--chmod=+x', name);
  if (kind === 'merge') {
    await clone.git('checkout', '--quiet', '-b', `side-${title.length}`, 'origin/main');
    await clone.commit({ message: 'Aside\n', files: { [`side-${title}.txt`]: bytes } });
    await clone.git('checkout', '--quiet', 'topic');
    await clone.git('merge', '--quiet', '--no-ff', '-m', message, `side-${title.length}`);
    await clone.git('branch', '--quiet', '-D', `side-${title.length}`);
    return;
  }
  await make();
  // A chmod in the index alone would be undone by the next step.
  await clone.git('reset', '--quiet', '--hard');
}

/** The commits with places in the list in place of parents that are new, because dates differ. */
function shapeOf({ commits }: Accepted) {
  const places = new Map(commits.map(({ oid }, place) => [oid, place]));
  return commits.map(({ tree, message, parents }) => ({
    tree,
    message: message.toString(),
    parents: parents.map((parent) => places.get(parent) ?? parent),
  }));
}

async function publishesTheSame({ steps, args, delta }: Story): Promise<void> {
  const upstream = await bed.createUpstream();
  await upstream.grow({ files: { 'long.txt': LONG } });
  const person = bed.person();
  const clone = await person.copy(upstream);
  const pushed = { upstream, person, clone };
  await clone.git('checkout', '--quiet', '-b', 'topic');
  for (const each of steps) await take(pushed, each);
  if (delta) await clone.commit({ message: 'Long\n', files: { 'long.txt': `${LONG}and more\n` } });
  if ((await clone.git('rev-list', '--count', 'origin/main..topic')) === '0') return;
  const twin = await bed.createUpstream();
  await twin.git('fetch', '--quiet', '--no-tags', upstream.path, `+refs/heads/main:refs/heads/main`);
  const bundle = await person.mustGit(clone.path, ['bundle', 'create', ...args]);
  const one = await expectAccepted(bed, pushed, await clone.push('origin', 'topic'));
  const answered = await postTo(bed, bed.person(), twin, 'bundle', bundle);
  expect(answered.status, answered.text).toBe(200);
  const other = await expectAccepted(bed, { clone, upstream: twin }, answered.pushed);
  expect(shapeOf(other)).toEqual(shapeOf(one));
  expect(other.pull).toMatchObject({ title: one.pull.title, body: one.pull.body, base: one.pull.base });
}

/** Each run gets the same stories, and a failure is not made smaller until the time is over. */
const SAME_STORIES = { seed: 1, endOnFailure: true };

it('a bundle publishes what a push of the same work does', exhaustive, async () => {
  await fc.assert(fc.asyncProperty(story, publishesTheSame), { ...SAME_STORIES, numRuns: 3 });
});

it('many bundles do', exhaustive, async () => {
  await fc.assert(fc.asyncProperty(story, publishesTheSame), { ...SAME_STORIES, numRuns: 15 });
});
