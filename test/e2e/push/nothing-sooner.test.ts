/**
 * Nobody but its author hears of a pull request before it is open; of one that the code host does
 * not show yet, only the statistics tell, which know it as soon as its author does (contract, 4.6).
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { bannerOf } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { TEST_HEADER } from '../support/tripwire.ts';
import type { Upstream } from '../support/upstream.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useOwnTestBed();

/** Whatever tells of pull requests. */
async function surfaces({ fullName }: Upstream, prHash: string): Promise<Record<string, unknown>> {
  const get = (path: string, accept = '*/*') => fetch(`${bed.service.url}${path}`, { headers: { accept } });
  const [stats, recent, badge, remote, page, feed, topic] = await Promise.all([
    get('/api/stats'),
    get('/api/recent-prs'),
    get(`/badge/${fullName}`),
    get(`/v1/gh/${fullName}`, 'text/html'),
    get(`/v1/pr/${prHash}`, 'text/html'),
    get(`/v1/pr/${prHash}.atom`),
    fetch(`${bed.sandbox.notifyUrl}/anon-pr-${prHash}/json?poll=1`, { headers: { [TEST_HEADER]: '1' } }),
  ]);
  const { prs } = await recent.json<{ prs: { repo: string }[] }>();
  return {
    total: (await stats.json<{ total_prs: number }>()).total_prs,
    recent: prs.filter(({ repo }) => fullName.endsWith(`/${repo}`)).length,
    badge: />(\d+)</.exec(await badge.text())?.[1],
    isListed: (await remote.text()).includes(`${fullName}/pull/1`),
    page: page.status,
    feed: feed.status,
    messages: (await topic.text()).split('\n').filter(Boolean).length,
  };
}

const NOTHING = { recent: 0, badge: '0', isListed: false, page: 404, feed: 404, messages: 0 };

/** Neither by its number nor in the list. Answers the path of the number. */
function hide({ name }: Upstream): RegExp {
  const [path, list] = [new RegExp(`/${name}/pulls/1$`), new RegExp(`/${name}/pulls$`)];
  const body = { message: 'Not Found', status: '404' };
  bed.sandbox.faults.inject({ method: 'GET', path, times: 1_000, answer: { status: 404, body } });
  bed.sandbox.faults.inject({ method: 'GET', path: list, times: 1_000, answer: { status: 200, body: [] } });
  return path;
}

async function total(): Promise<number> {
  const stats = await fetch(`${bed.service.url}/api/stats`);
  return (await stats.json<{ total_prs: number }>()).total_prs;
}

async function prHashOf(upstream: Upstream): Promise<string> {
  return (await bed.host.workBranches(upstream))[0]?.replace('anon-', '') ?? '';
}

describe('nothing tells of a pull request', () => {
  it('while the host is asked to open it', exhaustive, async () => {
    const before = await total();
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    await clone.commit();
    const path = new RegExp(`/${upstream.name}/pulls$`);
    const { promise: until, resolve: answer } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path, until });
    const pushing = clone.push();
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', path)).toHaveLength(1);
    const prHash = await prHashOf(upstream);
    expect(await surfaces(upstream, prHash)).toEqual({ total: before, ...NOTHING });
    answer();
    const { banner } = await expectAccepted(bed, contribution, await pushing);
    expect(banner.prHash).toBe(prHash);
    expect(await total()).toBe(before + 1);
  });

  it('but statistics while the host does not show what it says it has opened', async () => {
    const before = await total();
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const path = hide(upstream);
    const banner = bannerOf(await clone.push());
    await expect.poll(() => bed.host.requestsFor(upstream, 'GET', path).length).toBeGreaterThan(0);
    const counted = { total: before + 1, recent: 1, badge: '1' };
    expect(await surfaces(upstream, banner.prHash)).toEqual({ ...NOTHING, ...counted });
    bed.sandbox.faults.clear();
    bed.sandbox.maintainer.comment(
      { owner: upstream.owner, repo: upstream.name, number: 1 },
      'Thanks',
      'mona',
    );
    await bed.service.runScheduled();
    const shown = { ...counted, isListed: true, page: 200, feed: 200, messages: 2 };
    await expect.poll(() => surfaces(upstream, banner.prHash)).toEqual(shown);
  });

  it('that the host refuses to open', exhaustive, async () => {
    const before = await total();
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const answer = { status: 422, body: { message: 'Validation Failed', errors: [], status: '422' } };
    let prHash = '';
    const path = new RegExp(`/${upstream.name}/pulls$`);
    const { promise: until, resolve: refuse } = Promise.withResolvers<void>();
    bed.sandbox.faults.inject({ method: 'POST', path, until, answer });
    const pushing = clone.push();
    await expect.poll(async () => (prHash = await prHashOf(upstream))).not.toBe('');
    refuse();
    await expectRefused(bed, upstream, await pushing, 'the pull request could not be opened');
    expect(await surfaces(upstream, prHash)).toEqual({ total: before, ...NOTHING });
  });

  it('to whoever pushes the same commits while the host does not show it', exhaustive, async () => {
    const { upstream, clone } = await contribute(bed);
    await clone.commit();
    const path = hide(upstream);
    expect((await clone.push('origin', 'HEAD:one')).code).toBe(0);
    await expect.poll(() => bed.host.requestsFor(upstream, 'GET', path).length).toBeGreaterThan(0);
    await clone.git('commit', '--quiet', '--amend', '--no-edit', '--date=@1700000000 +0000');
    const second = await clone.push('origin', 'HEAD:two');
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).not.toContain('/pull/1');
  });
});
