/**
 * The key of a pull request. Everybody knows its pr_hash, because its branch has that name: so the
 * hash updates it, and does nothing else.
 */
import { describe, expect, it } from 'vitest';
import { contribute, expectAccepted } from '../support/contribution.ts';
import { delayedAs, published } from '../support/delayed.ts';
import { FormClient } from '../support/form-client.ts';
import type { GitRun } from '../support/person.ts';
import { bannerOf, remoteLines, statusTable } from '../support/push-output.ts';
import { useOwnTestBed, useTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const bed = useTestBed();
const keyed = useOwnTestBed({ env: { PR_UPDATE_POLICY: 'key' } });

const MISSING = 'the pr-key is missing';
const WRONG = 'the pr-key is wrong';

function expectRejected(pushed: GitRun, reason: string, sentence: RegExp): void {
  expect(pushed.code, pushed.stderr).toBe(1);
  expect(statusTable(pushed), pushed.stderr).toEqual([expect.stringContaining(`(push rejected: ${reason})`)]);
  expect(remoteLines(pushed)).toContainEqual(expect.stringMatching(sentence));
}

/** A pull request, its owner, and a stranger who knows its hash. */
async function opened(on = bed) {
  const contribution = await contribute(on);
  const { clone, upstream } = contribution;
  await clone.commit({ message: 'One\n\nText.\n' });
  const first = await expectAccepted(on, contribution, await clone.push());
  const { prHash, prKey = 'none' } = first.banner;
  const stranger = await on.person().copy(upstream);
  await stranger.commit({ message: 'Strange\n' });
  const push = (from: typeof clone, ...options: string[]) =>
    from.push(
      ...[`pr-hash=${prHash}`, ...options].flatMap((option) => ['-o', option]),
      '-f',
      'origin',
      'HEAD:topic',
    );
  return { ...contribution, stranger, first, prHash, prKey, push };
}

/** The key of another pull request of the same repository. */
async function anotherKey({ clone }: Awaited<ReturnType<typeof opened>>): Promise<string> {
  return bannerOf(await clone.push('origin', 'HEAD:another')).prKey ?? 'none';
}

const writes = () =>
  bed.host.requests.filter(({ method, path }) => method !== 'GET' && /\/pulls\/|\/git\/refs\//.test(path));

describe('whoever knows only the hash', () => {
  it('updates the pull request, and does not learn its key', async () => {
    const { stranger, upstream, first, prKey, push } = await opened();
    expect(prKey).toMatch(/^[0-9a-f]{32}$/);
    const pushed = await push(stranger);
    const { pull, banner } = await expectAccepted(bed, { upstream, clone: stranger }, pushed);
    expect(pull).toMatchObject({ number: first.pull.number, title: 'One', body: 'Text.' });
    expect(banner.prKey).toBeUndefined();
    expect(pushed.stderr).not.toContain(prKey);
    expect(banner.command).toMatch(/^git push -o pr-hash=\w+ http/);
  });

  it.each([
    ['withdraw', 'a pull request'],
    ['title=Mine', 'title or description'],
    ['description=Mine', 'title or description'],
  ])('does not get through with the option %s', async (option, what) => {
    const { stranger, upstream, first, push } = await opened();
    const before = writes().length;
    expectRejected(await push(stranger, option), MISSING, new RegExp(`${what}.* key.*-o pr-key=`));
    expect(await bed.host.onlyPull(upstream)).toEqual(first.pull);
    expect(writes()).toHaveLength(before);
  });

  it('does not learn its key either where it is told how to withdraw a double', exhaustive, async () => {
    const { clone, stranger, prKey, push } = await opened();
    await push(clone, 'withdraw', `pr-key=${prKey}`);
    await stranger.push('origin', 'HEAD:own');
    const pushed = await push(stranger);
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(pushed.stderr).toContain('this would be a SECOND pull request');
    expect(pushed.stderr).not.toContain(prKey);
  });

  it('opens another one after it was closed, and does not learn its key then', exhaustive, async () => {
    const { stranger, upstream, first, prKey, push } = await opened();
    bed.sandbox.maintainer.close({ owner: upstream.owner, repo: upstream.name, number: first.pull.number });
    const pushed = await push(stranger, 'title=Again');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect(pushed.stderr).not.toContain(prKey);
    expect((await bed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
  });
});

describe('a key that is not that of the pull request', () => {
  it.each(['withdraw', 'title=Mine', 'draft'])(
    'is refused with the option %s',
    exhaustive,
    async (option) => {
      const story = await opened();
      const { clone, upstream, prHash, push } = story;
      const other = await anotherKey(story);
      const before = await bed.host.pulls(upstream);
      for (const key of [other, '0'.repeat(32)]) {
        const pushed = await push(clone, option, `pr-key=${key}`);
        expectRejected(pushed, WRONG, new RegExp(`not the key of ${prHash}.*shown with`));
      }
      expect(await bed.host.pulls(upstream)).toEqual(before);
    },
  );

  it('is refused also if nobody knows the hash: it may be misspelt', async () => {
    const { clone, upstream, prKey, prHash } = await opened();
    const misspelt = prHash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    const pushed = await clone.push('-o', `pr-hash=${misspelt}`, '-o', `pr-key=${prKey}`, 'origin', 'HEAD:x');
    expectRejected(pushed, WRONG, /not the key/);
    await bed.host.onlyPull(upstream);
  });
});

describe('whoever has the key', () => {
  it('changes title and description, and is not shown the key again', exhaustive, async () => {
    const { clone, upstream, prKey, push } = await opened();
    await clone.commit();
    const pushed = await push(clone, 'title=Two', 'description=More.', `pr-key=${prKey}`);
    const { pull, banner } = await expectAccepted(bed, { upstream, clone }, pushed);
    expect(pull).toMatchObject({ title: 'Two', body: 'More.' });
    expect(pushed.stderr).not.toContain(prKey);
    expect(banner.command).not.toContain('pr-key');
  });
});

describe('a delayed push', () => {
  it('that names a pull request without its key is not shown it', exhaustive, async () => {
    const { clone, prHash, prKey } = await opened(bed);
    await clone.commit();
    const push = ['-o', `pr-hash=${prHash}`, '-o', 'delay=1h', 'origin', 'HEAD:topic'];
    const page = await published(bed, delayedAs(await clone.push(...push)));
    expect(page).toContain(prHash);
    expect(page).not.toContain(prKey);
  });
});

describe('with PR_UPDATE_POLICY=key', () => {
  it('a pull request is updated as the banner spells it, again and again', exhaustive, async () => {
    const { clone, upstream, first, prKey } = await opened(keyed);
    expect(first.banner.command).toContain(` -o pr-key=${prKey} `);
    for (let round = 0; round < 2; round++) {
      await clone.commit();
      const pushed = await clone.tryGit(...first.banner.command.split(' ').slice(1));
      const second = await expectAccepted(keyed, { upstream, clone }, pushed);
      expect(second.pull.number).toBe(first.pull.number);
      expect({ ...second.banner, prKey }).toEqual(first.banner);
    }
  });

  it('a form says that only the key updates what it has opened', async () => {
    const upstream = await keyed.createUpstream();
    await upstream.grow({ files: { 'a.txt': 'one\n' } });
    const client = new FormClient(keyed.service.url, keyed.person());
    const path = `/v1/gh/${upstream.fullName}/change`;
    const { fields } = await client.get(`${path}?path=a.txt`);
    const typed = { ...fields, text: 'two\n', title: 'Say two', description: '' };
    const { html } = await client.post(path, { ...typed, step: 'open', delay: '0s' });
    expect(html).toContain('Only with the key can you update the pull request');
    expect(html).not.toContain('everybody can update');
  });

  it('it is not touched without the key, or with another', async () => {
    const story = await opened(keyed);
    const { clone, upstream, first, prHash, prKey, push } = story;
    await clone.commit();
    expectRejected(await push(clone), MISSING, /-o pr-key=.*without pr-hash/);
    expectRejected(await push(clone, `pr-key=${'0'.repeat(32)}`), WRONG, new RegExp(prHash));
    expect(await keyed.host.onlyPull(upstream)).toEqual(first.pull);
    expect((await push(clone, `pr-key=${prKey}`)).code).toBe(0);
  });

  it(
    'the key stays when a push after the closing opens another from the same branch',
    exhaustive,
    async () => {
      const { clone, upstream, first, prKey, push } = await opened(keyed);
      keyed.sandbox.maintainer.close({
        owner: upstream.owner,
        repo: upstream.name,
        number: first.pull.number,
      });
      await clone.commit();
      expectRejected(await push(clone), MISSING, /key/);
      expect(bannerOf(await push(clone, `pr-key=${prKey}`)).command).toContain(` -o pr-key=${prKey} `);
      expect((await keyed.host.pulls(upstream)).map(({ state }) => state)).toEqual(['closed', 'open']);
    },
  );
});
