/**
 * Until it is published, the host gets no request for a delayed push that fetches do not cause.
 * Whole requests are compared, in their order: method, address, all headers but the token, and
 * body.
 */
import { expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted } from '../support/contribution.ts';
import { delayedAs, published } from '../support/delayed.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/**
 * Lists what an action makes the host see, request by request. The ids of branches are replaced by
 * their names.
 */
async function caused(upstream: Upstream, action: () => Promise<unknown>): Promise<string[]> {
  const before = bed.host.requests.length;
  await action();
  const ids: [name: string, oid: string][] = [];
  for (const line of (await upstream.git('for-each-ref', '--format=%(refname) %(objectname)')).split('\n'))
    ids.push(line.split(' ') as [string, string]);
  return bed.host.requests.slice(before).map(({ method, path, rawHeaders, body }) => {
    const tokenAt = rawHeaders.findIndex((field) => field.toLowerCase() === 'authorization');
    const headers = tokenAt < 0 ? rawHeaders : rawHeaders.toSpliced(tokenAt, 2, 'with an account');
    const whole = [`${method} ${path}`, ...headers, body.toString('latin1')].join('\n');
    return ids.reduce((text, [name, oid]) => text.replaceAll(oid, `<${name}>`), whole);
  });
}

/** Whether the host sees all of it, in one piece, while somebody else fetches. */
function isPartOf(seen: readonly string[], ofFetch: readonly string[]): boolean {
  return ofFetch.some((_, at) => seen.every((request, index) => request === ofFetch[at + index]));
}

const push = ({ clone }: Pick<Contribution, 'clone'>, ...options: string[]) =>
  clone.push(...options.flatMap((option) => ['-o', option]), 'origin', 'HEAD:topic');

/** Reads the newer history of one branch, without a filter for who reads it. */
async function fetchesHistory(upstream: Upstream, branch = upstream.defaultBranch): Promise<void> {
  const reader = await bed.person().init(upstream.url);
  await reader.git('remote', 'set-branches', 'origin', branch);
  await reader.git('fetch', '--quiet', '--filter=tree:0', '--shallow-since=90 days ago', 'origin');
}

/** Another push has told the service its own name. */
async function withoutFirstQuestions(): Promise<void> {
  const other = await contribute(bed);
  await other.clone.commit();
  await expectAccepted(bed, other, await other.clone.push());
}

it('of a repository that nobody has used looks like the fetch of its newer history', async () => {
  await withoutFirstQuestions();
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  const seen = await caused(upstream, async () => delayedAs(await push(contribution, 'delay=1h')));
  expect(seen).toHaveLength(3);
  expect(seen).toEqual(await caused(upstream, () => fetchesHistory(upstream)));
});

it('of a repository that somebody has read before looks like a fetch that finds nothing new', async () => {
  await withoutFirstQuestions();
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit();
  delayedAs(await push(contribution, 'delay=1h'));
  await clone.commit({ message: 'More\n' });
  const seen = await caused(upstream, async () => {
    delayedAs(await push(contribution, 'delay=1h'));
  });
  const nothingNew = await caused(upstream, () => clone.git('fetch', 'origin'));
  expect(nothingNew).toHaveLength(2);
  expect(seen).toEqual(nothingNew);
  const again = await caused(upstream, async () => {
    expect((await push(contribution, 'delay=2h')).stderr).toContain('This push waits already.');
  });
  expect(again).toEqual(nothingNew);
});

it('of a repository with several branches is a part of what a fetch causes', exhaustive, async () => {
  await withoutFirstQuestions();
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await upstream.grow({ branch: 'other', from: upstream.defaultBranch, files: { 'other.txt': 'Other\n' } });
  const ofFetch = await caused(upstream, () => clone.git('fetch', '--quiet', 'origin'));
  // The same again, as the service remembers what it has read.
  await upstream.grow({ files: { 'main.txt': 'More\n' } });
  await upstream.grow({ branch: 'other', files: { 'other.txt': 'More\n' } });
  await clone.commit();
  const seen = await caused(upstream, async () => delayedAs(await push(contribution, 'delay=1h')));
  expect(seen.length).toBeGreaterThan(3);
  expect(isPartOf(seen, ofFetch), JSON.stringify([seen, ofFetch], null, 1)).toBe(true);
});

it('for another branch looks like the fetch of that', exhaustive, async () => {
  await withoutFirstQuestions();
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.git('fetch', '--quiet', 'origin');
  await upstream.grow({
    branch: 'stable',
    from: upstream.defaultBranch,
    files: { 'stable.txt': 'Stable\n' },
  });
  await clone.git('fetch', '--quiet', 'origin');
  await clone.git('switch', '--quiet', '--create', 'mine', 'origin/stable');
  await clone.commit();
  const seen = await caused(upstream, async () =>
    delayedAs(await clone.push('-o', 'delay=1h', '-o', 'base=stable', 'origin', 'HEAD:topic')),
  );
  const ofBranch = await caused(upstream, () => fetchesHistory(upstream, 'stable'));
  expect(seen).toEqual(ofBranch);
});

it('that updates a file which upstream has asks for nothing more', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await upstream.grow({ files: { 'AUTHORS.md': `Somebody\n${'line\n'.repeat(50)}` } });
  await clone.git('pull', '--quiet', 'origin', upstream.defaultBranch);
  await clone.commit();
  const { banner } = await expectAccepted(bed, contribution, await clone.push());
  await clone.commit({ files: { 'AUTHORS.md': `Somebody\n${'line\n'.repeat(51)}` } });
  const options = [`pr-hash=${banner.prHash}`, 'delay=1h', 'publish-names'];
  let name = '';
  const seen = await caused(upstream, async () => {
    name = delayedAs(await push(contribution, ...options));
  });
  expect(seen).toEqual(await caused(upstream, () => clone.git('fetch', 'origin')));
  await published(bed, name);
});
