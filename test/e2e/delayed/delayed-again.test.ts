/**
 * The same push again while it waits, and after: whoever has all of it is told that it waits, and
 * nobody is told more. A stranger knows what is public, and guesses the rest.
 */
import { describe, expect, it } from 'vitest';
import { buildPack, type ObjectType } from '../../support/pack-builder.ts';
import { contribute, type Contribution } from '../support/contribution.ts';
import { delayedAs, nameIn, pageOf, pass, press, published, publishedAs } from '../support/delayed.ts';
import type { Clone, GitRun } from '../support/person.ts';
import { bannerOf, keyIn, remoteLines, statusTable, withoutSecrets } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { packOf, pushBody, sendPush } from '../support/wire.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { type PushReport, readReport } from '../../support/pkt-line.ts';

const bed = useOwnTestBed();

const REF = 'refs/heads/topic';
const WAITS = 'This push waits already.';
const again = ({ clone }: { readonly clone: Clone }, ...options: string[]): Promise<GitRun> =>
  clone.push(...options.flatMap((option) => ['-o', option]), 'origin', 'HEAD:topic');

/** All that a push of HEAD needs, whole: commits first, as Git sends them. */
async function entriesOf(clone: Clone) {
  const listed = await clone.git('rev-list', '--objects', '--no-object-names', 'HEAD', '^origin/main');
  const entries = listed.split('\n').map(async (oid) => {
    const type = await clone.git('cat-file', '-t', oid);
    const content = await clone.person.mustGit(clone.gitFolder, ['cat-file', type, oid]);
    return { type: type as ObjectType, content };
  });
  return Promise.all(entries);
}

interface Guess {
  readonly pack: Uint8Array;
  readonly options?: readonly string[];
  readonly newId?: string;
}

/** Sends a guess from another network, as a stranger would. */
async function strangerSends(
  { upstream, clone }: Pick<Contribution, 'upstream' | 'clone'>,
  { pack, options = ['delay=1m'], newId }: Guess,
): Promise<PushReport> {
  const commands = [{ newId: newId ?? (await clone.idOf('HEAD')), ref: REF }];
  const body = pushBody({ commands, pack, options });
  return readReport((await sendPush(upstream.url, bed.person(), body)).body);
}

/** A waiting push tells its window to the minute, and its page has a random name. */
const shape = (lines: readonly string[]): string[] =>
  lines.map((line) =>
    line
      .replace(/[0-9a-f]{32}/g, '<name>')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '<time>')
      .trimEnd(),
  );
const wordsOf = (answer: PushReport): string => JSON.stringify(answer);
const timesIn = (text: string): string[] => text.match(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g) ?? [];

/** That it waits, as was told first, and nothing else. */
function expectToldToWait(pushed: GitRun, first: GitRun, name: string): void {
  expect(pushed.code, pushed.stderr).toBe(0);
  const lines = remoteLines(pushed);
  expect(lines).toContain(WAITS);
  expect(timesIn(pushed.stderr)).toEqual(timesIn(first.stderr));
  expect(pushed.stderr).not.toContain(name);
  expect(pushed.stderr).not.toContain('/v1/delayed/');
  expect(keyIn(pushed)).toBeUndefined();
}

/** A push that waits, with what its person was told. */
async function waiting() {
  const contribution = await contribute(bed);
  await contribution.clone.commit();
  const first = await again(contribution, 'delay=1h');
  return { ...contribution, first, name: delayedAs(first) };
}

describe('whoever has only guessed the id of a push that waits', () => {
  it.each([[['delay=1m']], [[]]])('and sends an empty pack with %j learns nothing', async (options) => {
    const { name, ...victim } = await waiting();
    const answer = await strangerSends(victim, { pack: buildPack([]).bytes, options });
    expect(wordsOf(answer)).not.toContain(name);
    expect(answer.report.at(-1)).toContain('ng refs/heads/topic push rejected: fetch first');
    const unknown = await strangerSends(victim, {
      pack: buildPack([]).bytes,
      options,
      newId: 'a'.repeat(40),
    });
    expect(shape(answer.progress)).toEqual(shape(unknown.progress));
    expect(answer.report).toEqual(unknown.report);
  });

  it('and sends its commit without one of the files is answered as any new push', async () => {
    const { name, ...victim } = await waiting();
    const entries = await entriesOf(victim.clone);
    expect(entries.map(({ type }) => type)).toEqual(['commit', 'tree', 'blob']);
    const answer = await strangerSends(victim, { pack: buildPack(entries.slice(0, -1)).bytes });
    const other = await contribute(bed);
    const newId = await other.clone.commit();
    const pack = await packOf(other.clone, ['HEAD', '^origin/main']);
    const fresh = await strangerSends(other, { pack, newId });
    expect(shape(answer.progress)).toEqual(shape(fresh.progress));
    expect(answer.report).toEqual(fresh.report);
    expect(nameIn(answer.progress.join('\n'))).not.toBe(name);
    expect(await pageOf(bed, name)).toMatch(/^200 Delayed\n/);
  });
});

describe('the same push again, by Git,', () => {
  it.each([[['delay=1h']], [[]]])(
    'with the options %j is told that it waits, and nothing is public sooner',
    async (options) => {
      const { first, name, ...contribution } = await waiting();
      const before = await pageOf(bed, name);
      expectToldToWait(await again(contribution, ...options), first, name);
      expect(await pageOf(bed, name)).toBe(before);
      expect(bed.host.requestsFor(contribution.upstream, 'POST', /receive-pack$|\/forks$|\/pulls$/)).toEqual(
        [],
      );
      await published(bed, name);
      await pass(bed);
      await bed.host.onlyPull(contribution.upstream);
    },
  );

  it('from another network, with its objects packed in another way, is the same', exhaustive, async () => {
    const { first, name, ...victim } = await waiting();
    const { clone } = victim;
    await clone.commit({ message: 'Second\n', files: { 'a.txt': `${'line\n'.repeat(400)}one\n` } });
    await clone.commit({ message: 'Third\n', files: { 'a.txt': `${'line\n'.repeat(400)}two\n` } });
    const second = await again({ clone }, 'delay=1h');
    const packs = [
      buildPack(await entriesOf(clone)).bytes,
      buildPack((await entriesOf(clone)).toReversed()).bytes,
      await packOf(clone, ['HEAD', '^origin/main'], '--thin', '--window=50', '--delta-base-offset'),
      await packOf(clone, ['HEAD', '^origin/main'], '--window=0', '--compression=0'),
    ];
    for (const pack of packs) {
      const answer = await strangerSends(victim, { pack });
      expect(answer.progress).toContain(WAITS);
      expect(timesIn(wordsOf(answer))).toEqual(timesIn(second.stderr));
      expect(wordsOf(answer)).not.toMatch(/[0-9a-f]{32}/);
    }
    expect(delayedAs(second)).not.toBe(name);
    expect(timesIn(first.stderr)).toHaveLength(2);
  });

  it('and its publication take no second slot among the pull requests of an hour', exhaustive, async () => {
    const { upstream, clone, name } = await waiting();
    for (const options of [['delay=1h'], [], ['delay=2h'], []])
      expect(remoteLines(await again({ clone }, ...options))).toContain(WAITS);
    await press(bed, name, 'publish');
    await expect.poll(() => pageOf(bed, name)).toContain('/pull/');
    for (const branch of ['b', 'c', 'd', 'e']) {
      await clone.commit();
      expect((await clone.push('origin', `HEAD:${branch}`)).code).toBe(0);
    }
    await clone.commit();
    for (const options of [[], ['delay=1h']])
      expect((await again({ clone }, ...options)).stderr).toContain('rate limit exceeded');
    expect(await bed.host.pulls(upstream)).toHaveLength(5);
  });

  it('twice at once waits once, and one of the two has its page', exhaustive, async () => {
    const contribution = await contribute(bed);
    const { upstream, clone } = contribution;
    const newId = await clone.commit();
    const pack = await packOf(clone, ['HEAD', '^origin/main']);
    const answers = await Promise.all(
      [1, 2].map(() => strangerSends(contribution, { pack, newId, options: ['delay=1h'] })),
    );
    const [told, ...others] = answers.filter(({ progress }) => !progress.includes(WAITS));
    expect(others).toEqual([]);
    await published(bed, nameIn(told?.progress.join('\n') ?? ''));
    const other = answers.find(({ progress }) => progress.includes(WAITS));
    // It may have been told of a page before it was found: that page is none.
    for (const [, name = ''] of wordsOf(other!).matchAll(/delayed\/([0-9a-f]{32})/g)) {
      expect(await pageOf(bed, name)).toMatch(/^404 /);
      expect(other?.progress.join('\n')).toContain('leads nowhere');
    }
    await pass(bed);
    await bed.host.onlyPull(upstream);
  });

  it('after it was given up waits anew', exhaustive, async () => {
    const { upstream, clone, name } = await waiting();
    await press(bed, name, 'give-up');
    const second = delayedAs(await again({ clone }, 'delay=1h'));
    expect(second).not.toBe(name);
    await published(bed, second);
    await bed.host.onlyPull(upstream);
  });
});

describe('once it is public', () => {
  it('from the first byte on, it is found by nobody any more', async () => {
    const { name, ...victim } = await waiting();
    const { upstream } = victim;
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    const path = new RegExp(`/${upstream.name}\\.git/git-receive-pack$`);
    bed.sandbox.faults.inject({ method: 'POST', path, until });
    const pressing = press(bed, name, 'publish');
    await expect.poll(() => bed.host.requestsFor(upstream, 'POST', path)).toHaveLength(1);
    const pack = buildPack(await entriesOf(victim.clone)).bytes;
    const answer = await strangerSends(victim, { pack });
    expect(answer.progress).not.toContain(WAITS);
    expect(nameIn(answer.progress.join('\n'))).not.toBe(name);
    goOn();
    await pressing;
    // What comes before it is public is not compared with it.
    await expect.poll(() => pageOf(bed, name)).toContain('/pull/');
    await pass(bed);
    await bed.host.onlyPull(upstream);
  });

  it.each([[['delay=1m']], [[]]])(
    'a guess of its id with %j tells what is public, and neither page nor key',
    async (options) => {
      const { name, ...victim } = await waiting();
      const { key } = publishedAs(await published(bed, name));
      const { url } = await bed.host.onlyPull(victim.upstream);
      const pack = buildPack(await entriesOf(victim.clone)).bytes;
      const words: string[] = [];
      // As guessed, and wrong by a second.
      const [commit, ...files] = await entriesOf(victim.clone);
      const wrong = Buffer.from(
        String(Buffer.from(commit!.content)).replace(/> (\d+)/, (_, at) => `> ${Number(at) - 7}`),
      );
      const wrongId = await victim.clone.writeObject('commit', wrong);
      const wrongPack = buildPack([{ type: 'commit', content: wrong }, ...files]).bytes;
      for (const guess of [{ pack }, { pack: wrongPack, newId: wrongId }]) {
        const answer = await strangerSends(victim, { ...guess, options });
        expect(wordsOf(answer)).not.toContain(name);
        expect(wordsOf(answer)).not.toContain(key);
        expect(wordsOf(answer)).toContain(url);
        words.push(wordsOf(answer).replaceAll(/[0-9a-f]{12,32}|pull\/\d+/g, '<random>'));
      }
      expect(words[1]).toBe(words[0]);
    },
  );

  it('a fork is not made for one that is open already by then', exhaustive, async () => {
    const { clone, upstream, name } = await waiting();
    const pushed = await clone.push('origin', 'HEAD:other');
    expect(pushed.code, pushed.stderr).toBe(0);
    await bed.sandbox.maintainer.deleteFork(bed.sandbox.botLogin, upstream.name);
    await bed.restart();
    // A run on a busy machine may end before its turn comes.
    await expect
      .poll(async () => (await pass(bed), pageOf(bed, name)))
      .toContain('the same commits were proposed before');
    expect(bed.host.forkPath(upstream)).toBeNull();
  });

  it(
    'its person is refused a second one with its address, or opens another without a delay',
    exhaustive,
    async () => {
      const { upstream, clone, name } = await waiting();
      await published(bed, name);
      const { url } = await bed.host.onlyPull(upstream);
      const pushed = await again({ clone }, 'delay=1h');
      expect(statusTable(pushed)[0]).toContain('the same commits were proposed before');
      expect(remoteLines(pushed).join('\n')).toContain(url);
      await pass(bed);
      await bed.host.onlyPull(upstream);
      expect(withoutSecrets(await again({ clone }))[0]).toBe(
        `Warning: this would be a SECOND pull request. Your commit is already in ${url}.`,
      );
    },
  );
});

describe('the page of a delayed push', () => {
  it('is not promised by a push that is refused before it is kept', exhaustive, async () => {
    const { clone, first } = await waiting();
    await clone.commit({ message: 'More\n' });
    const more = ['-o', 'pr-hash=0123456789ab', '-o', 'overwrite'];
    const pushed = await clone.push('-o', 'delay=1h', ...more, 'origin', 'HEAD:topic');
    expect(statusTable(pushed)[0]).toContain('overwrite cannot wait');
    expect(pushed.stderr).not.toContain('/v1/delayed/');
    expect(first.stderr).toContain('/v1/delayed/');
  });
});

describe('a delayed update that is pushed again', () => {
  it(
    'waits by itself, as anybody may push it who knows the hash, and changes nothing twice',
    exhaustive,
    async () => {
      const { upstream, clone } = await contribute(bed);
      await clone.commit();
      const { prHash } = bannerOf(await again({ clone }));
      await clone.commit();
      const push = () => again({ clone }, `pr-hash=${prHash}`, 'delay=1h');
      const names = [delayedAs(await push()), delayedAs(await push())];
      expect(new Set(names).size).toBe(2);
      for (const name of names) await published(bed, name);
      expect((await bed.host.onlyPull(upstream)).state).toBe('open');
    },
  );
});
