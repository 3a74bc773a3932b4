/** Pushes that are published at a chosen time, with `-o delay`. */
import { describe, expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted } from './support/contribution.ts';
import type { GitRun } from './support/person.ts';
import { remoteLines, statusTable } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';
import { TEST_HEADER } from './support/tripwire.ts';

const bed = useTestBed();
const HOUR_MS = 60 * 60 * 1000;

/** The hash of a push that was held. */
function heldAs(pushed: GitRun): string {
  expect(pushed.code, pushed.stderr).toBe(0);
  const lines = remoteLines(pushed);
  const [hash] = lines.map((line) => /PR hash: +(\w+)/.exec(line)?.[1]).filter(Boolean);
  expect(hash, pushed.stderr).toBeDefined();
  return hash as string;
}

async function page(hash: string): Promise<string> {
  const response = await fetch(`${bed.service.url}/v1/pr/${hash}`, {
    headers: { Accept: 'text/plain', [TEST_HEADER]: '1' },
  });
  return `${response.status} ${await response.text()}`;
}

async function held(...options: string[]): Promise<Contribution & { readonly hash: string }> {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const pushed = await contribution.clone.push('-o', 'delay=1h', ...options, 'origin', 'HEAD:topic');
  return { ...contribution, hash: heldAs(pushed) };
}

describe('a push with a delay', () => {
  it('is accepted, and nothing of it is at the host before its time', async () => {
    const contribution = await contribute(bed);
    const { clone, upstream } = contribution;
    await clone.commit();
    const pushed = await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    const hash = heldAs(pushed);
    expect(statusTable(pushed)).toEqual([' * [new branch]      HEAD -> topic']);
    expect(
      remoteLines(pushed).find((line) => line.startsWith('Held: it is published between ')),
    ).toBeDefined();
    await bed.service.runScheduled(Date.now() + HOUR_MS - 60_000);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(bed.host.forkPath(upstream)).toBeNull();
    expect(await page(hash)).toMatch(/^200 Held: /);
  });

  it('is published when its time has come, and its page shows the pull request', async () => {
    const { upstream, hash } = await held();
    await bed.service.runScheduled(Date.now() + 2 * HOUR_MS + 1000);
    const pull = await bed.host.onlyPull(upstream);
    expect(pull).toMatchObject({ state: 'open', head: `${bed.sandbox.botLogin}:anon-${hash}` });
    await expect.poll(() => page(hash)).toContain(pull.url);
    expect(await page(hash)).not.toContain('Held');
  });

  it('is given up by a withdrawal', async () => {
    const { upstream, clone, hash } = await held();
    const pushed = await clone.push('-o', 'withdraw', '-o', `pr-hash=${hash}`, 'origin', 'HEAD:topic');
    expect(remoteLines(pushed)).toContain(
      'Your push was held, and is given up. Nothing of it was published.',
    );
    await bed.service.runScheduled(Date.now() + 3 * HOUR_MS);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    expect(await page(hash)).toMatch(/^200 Cancelled: /);
  });

  it('that is repeated answers with the same hold, and with delay=0s is published', async () => {
    const { upstream, clone, hash } = await held();
    expect(heldAs(await clone.push('origin', 'HEAD:topic'))).toBe(hash);
    expect(heldAs(await clone.push('-o', 'delay=2h', 'origin', 'HEAD:topic'))).toBe(hash);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    const { banner } = await expectAccepted(
      bed,
      { upstream, clone },
      await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic'),
    );
    expect(banner.prHash).toBe(hash);
    await bed.service.runScheduled(Date.now() + 3 * HOUR_MS);
    expect(await bed.host.pulls(upstream)).toHaveLength(1);
  });
});
