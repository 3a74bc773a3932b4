/**
 * One person's contribution to one repository: the story that nearly every test tells, and how it
 * should end.
 */
import { expect } from 'vitest';
import type { HostView, Pull } from './host-view.ts';
import type { CommitParts } from './objects.ts';
import { readRef } from '../../../sandbox/bare-repository.ts';
import type { Clone, GitRun, Person } from './person.ts';
import { type Banner, bannerOf, remoteLines, statusTable } from './push-output.ts';
import { expectRewritten } from './rewritten.ts';
import type { TestBed, UpstreamOptions } from './test-bed.ts';
import type { Upstream } from './upstream.ts';
import type { WatchedHost } from './watched-host.ts';

/** The service, and the host that a contribution goes to. */
export interface Bed extends Pick<TestBed, 'createUpstream' | 'person'> {
  readonly sandbox: Pick<WatchedHost, 'botLogin'>;
  readonly host: HostView;
}

export interface Contribution {
  readonly upstream: Upstream;
  readonly person: Person;
  readonly clone: Clone;
}

/**
 * A new repository, and a new person with a clone of it. How cloning through the service works:
 * fetch.test.ts.
 */
export async function contribute(bed: Bed, wanted: UpstreamOptions = {}): Promise<Contribution> {
  const upstream = await bed.createUpstream(wanted);
  const person = bed.person();
  const clone = await person.copy(upstream);
  return { upstream, person, clone };
}

export interface Accepted {
  readonly banner: Banner;
  readonly pull: Pull;
  /** The repository that has them: the bot's fork, or upstream. */
  readonly forkPath: string;
  /** The new commits, parents before children. */
  readonly commits: readonly CommitParts[];
}

/**
 * Fails unless the push became one open pull request that holds the person's work under the bot's
 * name.
 */
export async function expectAccepted(
  bed: Bed,
  { upstream, clone }: Pick<Contribution, 'upstream' | 'clone'>,
  pushed: GitRun,
  more: { readonly tip?: string; readonly fork?: { readonly name: string }; readonly author?: string } = {},
): Promise<Accepted> {
  expect(pushed.code, pushed.stderr).toBe(0);
  await bed.host.settle();
  const banner = bannerOf(pushed);
  const pull = (await bed.host.pulls(upstream)).find(({ url }) => url === banner.prUrl);
  if (pull === undefined) throw new Error(`there is no pull request ${banner.prUrl}`);
  const { head, ...source } = bed.host.source(upstream, pull, banner.branch);
  expect(pull).toMatchObject({ state: 'open', author: more.author ?? bed.sandbox.botLogin, head });
  expect(banner.branch).toBe(`anon-${banner.prHash}`);
  const forkPath = more.fork === undefined ? source.path : bed.host.forkPath(more.fork);
  if (forkPath === null) throw new Error('there is no fork');
  const forkTip = readRef(forkPath, source.refName);
  if (forkTip === undefined) throw new Error(`there is no ${source.refName}`);
  expect(pull.headSha).toBe(forkTip);
  const commits = await expectRewritten({ clone, tip: more.tip ?? 'HEAD', upstream, forkPath, forkTip });
  return { banner, pull, forkPath, commits };
}

/**
 * Fails unless Git told the person, in its status table and as a remote line, that and why the push
 * was rejected, and nothing of it stays on the host.
 * @param left work branches that stay, because the host may have opened a pull request from them.
 */
export async function expectRefused(
  bed: Pick<Bed, 'host'>,
  upstream: Upstream,
  pushed: GitRun,
  reason: string | RegExp,
  left: { readonly branches: number } = { branches: 0 },
): Promise<string[]> {
  const lines = remoteLines(pushed);
  expect(pushed.code, pushed.stderr).toBe(1);
  const rows = statusTable(pushed).filter((row) => row.startsWith(' ! [remote rejected]'));
  expect(rows.length, pushed.stderr).toBeGreaterThan(0);
  const told = rows.map((row) => /\(push rejected: (.+)\)$/.exec(row)?.[1]);
  expect(told, pushed.stderr).toContainEqual(
    reason instanceof RegExp ? expect.stringMatching(reason) : reason,
  );
  expect(lines.some((line) => line.startsWith('push rejected: '))).toBe(true);
  expect(await bed.host.pulls(upstream)).toEqual([]);
  expect(await bed.host.workBranches(upstream)).toHaveLength(left.branches);
  return lines;
}
