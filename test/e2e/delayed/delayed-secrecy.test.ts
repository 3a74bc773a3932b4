/**
 * Nothing of a delayed push is anywhere before its time: not at the host, in a topic, a feed, the
 * statistics. And nothing in the service's files ever tells of its person: no name, no address, no
 * original id, no abbreviation of one.
 */
import { randomBytes } from 'node:crypto';
import { assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check';
import { expect, it } from 'vitest';
import { contribute, type Contribution, expectAccepted } from '../support/contribution.ts';
import { delayedAs, pass, press, pageOf, published, publishedAs } from '../support/delayed.ts';
import type { Secret } from '../support/secrets.ts';
import { inflatedFilesIn, pathsIn } from '../support/state-files.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { topicTexts } from '../support/topic.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const RUNS = 8;
const DAY_MS = 24 * 60 * 60 * 1000;

const bed = useOwnTestBed();

/** Lists what the files of the service tell of persons, as they are and inflated. */
async function tracesInFiles(): Promise<Secret[]> {
  // It learns the secrets of all clones so far.
  await bed.verify();
  const { search } = bed.tripwire.secrets;
  return inflatedFilesIn(bed.stateDir).flatMap(({ bytes }) => search.search(bytes).map(({ label }) => label));
}

/**
 * Expects that nothing is told of a push while it waits.
 * @param prHash of the pull request that it updates.
 */
async function expectNothingTold(
  { upstream }: Contribution,
  before: Told,
  prHash: string | null,
): Promise<void> {
  expect(await toldOf(upstream.fullName, prHash)).toEqual(before.told);
  // What a clone asks for, and no more: no call of the interface, and nothing that is written.
  const asked = bed.host.requests.slice(before.requests).filter(({ path }) => path.includes(upstream.name));
  expect(asked.filter(({ path }) => !/\/(?:info\/refs|git-upload-pack)\b/.test(path))).toEqual([]);
}

/**
 * Names of files that end in a time of these days, in milliseconds: miniflare puts one behind each
 * blob's.
 */
function namesWithTime(): string[] {
  return pathsIn(bed.stateDir).filter((name) => {
    const at = Number(BigInt(`0x0${/[0-9a-f]{16}$/.exec(name)?.[0] ?? ''}`));
    return Math.abs(at - Date.now()) < 365 * DAY_MS;
  });
}

interface Told {
  readonly told: readonly string[];
  readonly requests: number;
}

async function read(url: string): Promise<string> {
  const answer = await fetch(url, { headers: { Accept: 'text/plain' } });
  return `${answer.status} ${await answer.text()}`;
}

/** Reads what everybody can read. */
async function toldOf(repository: string, prHash: string | null): Promise<string[]> {
  const recent = await read(`${bed.service.url}/api/recent-prs`);
  const page = `${bed.service.url}/v1/pr/${prHash}`;
  return [
    String(recent.includes(`/${repository}/`)),
    ...(prHash === null
      ? []
      : [...(await topicTexts(bed, prHash)), await read(page), await read(`${page}.atom`)]),
  ];
}

interface Story {
  readonly commits: number;
  readonly isLarge: boolean;
  readonly mentions: boolean;
  readonly isUpdate: boolean;
  readonly end: 'published' | 'given up' | 'repeated' | 'now';
}

const story = record<Story>({
  commits: integer({ min: 1, max: 3 }),
  isLarge: boolean(),
  mentions: boolean(),
  isUpdate: boolean(),
  end: constantFrom('published', 'given up', 'repeated', 'now'),
});

async function tell({ commits, isLarge, mentions, isUpdate, end }: Story): Promise<void> {
  const contribution = await contribute(bed);
  const { upstream, clone } = contribution;
  let prHash: string | null = null;
  if (isUpdate) {
    await clone.commit({ message: 'Opened before\n' });
    ({ prHash } = (await expectAccepted(bed, contribution, await clone.push())).banner);
    const told = async () => (await toldOf(upstream.fullName, prHash)).join('\n');
    await expect.poll(told).toContain('pull request was opened');
  }
  let last = await clone.commit({
    ...(isLarge && { files: { 'large.bin': randomBytes(1_300_000) } }),
    message: 'First\n',
  });
  for (let more = 1; more < commits; more++) {
    last = await clone.commit({ message: mentions ? `Mend ${last.slice(0, 12)}\n` : `More ${more}\n` });
  }
  const before = { told: await toldOf(upstream.fullName, prHash), requests: bed.host.requests.length };
  const options = prHash === null ? [] : ['-o', `pr-hash=${prHash}`];
  const push = (delay: string) => clone.push(...options, '-o', `delay=${delay}`, 'origin', 'HEAD:topic');
  const name = delayedAs(await push('1h'));
  await expectNothingTold(contribution, before, prHash);
  expect(await tracesInFiles()).toEqual([]);
  expect(namesWithTime()).toEqual([]);
  // An update waits twice, and changes nothing twice.
  if (end === 'repeated' && !isUpdate)
    expect((await push('2h')).stderr).toContain('This push waits already.');
  if (end === 'given up') {
    await press(bed, name, 'give-up');
    await pass(bed);
  }
  if (end === 'repeated' || end === 'given up') await expectNothingTold(contribution, before, prHash);
  if (end === 'now') await press(bed, name, 'publish');
  if (end !== 'given up') {
    const page = await published(bed, name);
    await bed.host.onlyPull(upstream);
    // Nothing shows when it was pushed.
    expect(page).not.toMatch(/UTC/);
    const opened = prHash ?? publishedAs(page).prHash;
    const pullRequest = (await toldOf(upstream.fullName, opened)).join('\n');
    expect(pullRequest).not.toMatch(/delay/i);
  } else {
    expect(await pageOf(bed, name)).toMatch(/^200 Given up\n/);
  }
  expect(await tracesInFiles()).toEqual([]);
}

it('a delayed push leaves no trace before its time, and none of its person ever', async () => {
  await tell({ commits: 2, isLarge: true, mentions: true, isUpdate: true, end: 'published' });
});

it('any delayed push leaves no trace', { ...exhaustive, timeout: RUNS * 30_000 }, async () => {
  await assert(asyncProperty(story, tell), { numRuns: RUNS, seed: 1, endOnFailure: true });
});
