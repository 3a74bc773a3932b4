/**
 * Nothing of a held push is anywhere before its time: not at the host, in a topic, a feed, the statistics. And nothing
 * in the service's files ever tells of its person: no name, no address, no original id, no abbreviation of one.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contribute, type Contribution } from './support/contribution.ts';
import { heldAs, heldWith, pageOf, pass } from './support/held.ts';
import type { Secret } from './support/secrets.ts';
import { TestBed } from './support/test-bed.ts';
import { TEST_HEADER } from './support/tripwire.ts';

const RUNS = 8;
/** Where a zlib stream may begin (RFC 1950): deflate, window of 32 KiB. */
const ZLIB_HEADS = new Set([0x7801, 0x785e, 0x789c, 0x78da]);

const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-held-'));
let bed: TestBed;
beforeAll(async () => {
  bed = await TestBed.start({ stateDir });
});
afterAll(async () => {
  await bed.verify();
  await bed.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

/** What the files of the service tell of persons, as they are and inflated. */
async function tracesInFiles(): Promise<Secret[]> {
  // It learns the secrets of all clones so far.
  await bed.verify();
  const { search } = bed.tripwire.secrets;
  const files = readdirSync(stateDir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.flatMap(({ parentPath, name }) => {
    const bytes = readIfThere(join(parentPath, name));
    return bytes === null
      ? []
      : [bytes, ...inflated(bytes)].flatMap((each) => search.search(each).map(({ label }) => label));
  });
}

/** An object that has nothing to keep any more removes its files. */
function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function inflated(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 2 < bytes.length; at++) {
    if (!ZLIB_HEADS.has(bytes.readUInt16BE(at))) continue;
    try {
      found.push(inflateSync(bytes.subarray(at)));
    } catch {
      // It was none.
    }
  }
  return found;
}

async function expectNothingTold({ upstream }: Contribution, hash: string): Promise<void> {
  for (const path of [/git-receive-pack$/, /\/forks$/, /\/pulls$/]) {
    expect(bed.host.requestsFor(upstream, 'POST', path)).toEqual([]);
  }
  const topic = await fetch(`${bed.sandbox.notifyUrl}/anon-pr-${hash}/json?poll=1`, {
    headers: { [TEST_HEADER]: '1' },
  });
  expect(await topic.text()).toBe('');
  const feed = await fetch(`${bed.service.url}/v1/pr/${hash}.atom`, { headers: { [TEST_HEADER]: '1' } });
  expect(feed.status).toBe(404);
  const recent = await fetch(`${bed.service.url}/api/recent-prs`, { headers: { [TEST_HEADER]: '1' } });
  expect(await recent.text()).not.toContain(`/${upstream.fullName}/`);
  const requests = bed.host.requests.filter(({ path }) => path.includes(hash));
  expect(requests).toEqual([]);
}

interface Story {
  readonly commits: number;
  readonly isLarge: boolean;
  readonly mentions: boolean;
  readonly end: 'published' | 'withdrawn' | 'replaced' | 'at once';
}

const story = record<Story>({
  commits: integer({ min: 1, max: 3 }),
  isLarge: boolean(),
  mentions: boolean(),
  end: constantFrom('published', 'withdrawn', 'replaced', 'at once'),
});

async function tell({ commits, isLarge, mentions, end }: Story): Promise<void> {
  const contribution = await contribute(bed);
  const { upstream, clone } = contribution;
  let last = await clone.commit({
    ...(isLarge && { files: { 'large.bin': randomBytes(1_300_000) } }),
    message: 'First\n',
  });
  for (let more = 1; more < commits; more++) {
    last = await clone.commit({ message: mentions ? `Mend ${last.slice(0, 12)}\n` : `More ${more}\n` });
  }
  const { hash, withdraw } = heldWith(await clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic'));
  await expectNothingTold(contribution, hash);
  expect(await tracesInFiles()).toEqual([]);
  switch (end) {
    case 'withdrawn':
      await clone.push(...withdraw, 'origin', 'HEAD:topic');
      await pass(bed);
      await expectNothingTold(contribution, hash);
      break;
    case 'replaced':
      await clone.commit({ message: 'Another\n' });
      heldAs(await clone.push('-o', `pr-hash=${hash}`, 'origin', 'HEAD:topic'));
      await expectNothingTold(contribution, hash);
      break;
    case 'at once':
      expect((await clone.push('-o', 'delay=0s', 'origin', 'HEAD:topic')).code).toBe(0);
      break;
    case 'published':
  }
  if (end !== 'withdrawn') {
    await expect.poll(async () => (await pass(bed), pageOf(bed, hash))).toContain('/pull/');
    await bed.host.onlyPull(upstream);
    // Nothing shows that it was held, or when.
    expect(await pageOf(bed, hash)).not.toMatch(/held/i);
  }
  expect(await tracesInFiles()).toEqual([]);
}

it(
  'a held push leaves no trace before its time, and none of its person ever',
  async () => {
    await assert(asyncProperty(story, tell), { numRuns: RUNS, endOnFailure: true });
  },
  RUNS * 30_000,
);
