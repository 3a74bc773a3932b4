/**
 * Packs that the rewrite makes, judged by the real Git: from packs of any shape written by hand,
 * and from those that Git itself wrote. No service and no host take part.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { piecesOf, randomPieces } from '../../support/byte-chunks.ts';
import {
  BOT,
  COMMITTED_AT,
  expectedCommits,
  randomPush,
  UPSTREAM,
  UPSTREAM_BLOB,
  UPSTREAM_COMMIT,
} from '../../support/random-push.ts';
import { rewrite } from '../../support/rewrite.ts';
import { listObjects, readObject, readObjects } from '../support/objects.ts';
import { mustRun, neutralEnvironment } from '../support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'gitveil-oracle-'));
/** Has what upstream has, and takes in every rewritten pack. */
const fork = join(folder, 'fork.git');
const env = neutralEnvironment({
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada Lovelace',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Charles Babbage',
  GIT_COMMITTER_EMAIL: 'charles@example.org',
});

const git = (cwd: string, args: readonly string[], input: string | Uint8Array = '') =>
  mustRun('git', args, { cwd, env, input });

async function textOf(cwd: string, ...args: string[]): Promise<string> {
  return (await git(cwd, args)).toString().trim();
}

beforeAll(async () => {
  await git(folder, ['init', '--quiet', '--bare', fork]);
  await git(fork, ['hash-object', '-w', '-t', 'tree', '--stdin']);
  await git(fork, ['hash-object', '-w', '--stdin'], UPSTREAM_BLOB);
  const upstream = await git(fork, ['hash-object', '-w', '-t', 'commit', '--stdin'], UPSTREAM_COMMIT);
  expect(upstream.toString().trim()).toBe(UPSTREAM);
  await git(fork, ['update-ref', 'refs/heads/main', UPSTREAM]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As a host does: checks every object, and that everything that it points to is there. */
async function take(pack: Uint8Array, tip: string): Promise<void> {
  await git(fork, ['index-pack', '--strict', '--fix-thin', '--stdin'], pack);
  await git(fork, ['update-ref', `refs/heads/anon-${tip}`, tip]);
}

describe('git index-pack --strict', () => {
  it('takes any rewritten push, and finds in it the same trees and blobs and only the bot', async () => {
    const anyPush = randomPush({ forwardBases: true, nul: false, thin: true });
    await fc.assert(
      fc.asyncProperty(anyPush, fc.nat(999), async (push, seed) => {
        const { pack, tip } = await rewrite(randomPieces(push.pack, seed), push.tip);
        await take(pack, tip);
        const expected = expectedCommits(push);
        expect(tip).toBe(expected.tip);
        for (const [oid, content] of expected.contents)
          expect(await readObject(fork, oid)).toEqual({ oid, type: 'commit', content });
        const oids = push.treesAndBlobs.map(({ oid }) => oid);
        const found = await readObjects(fork, oids);
        expect(found).toEqual(
          push.treesAndBlobs.map((object) => ({ ...object, content: Buffer.from(object.content) })),
        );
      }),
      { numRuns: 25, seed: 1, endOnFailure: true },
    );
    expect(await textOf(fork, 'fsck', '--strict', '--no-dangling', '--no-progress')).toBe('');
  });
});

const signature = (kind: string, at: number) =>
  `${kind} Ada Lovelace <ada@example.org> ${1_700_000_000 + at} +0530\n`;

/**
 * A history that Git likes to deltify: long messages that differ little, merges, signatures,
 * annotated tags.
 */
async function realHistory(path: string): Promise<string> {
  await git(folder, ['init', '--quiet', '--bare', path]);
  const chunks: string[] = [];
  const text = 'This line is in every message, so that commits are stored as deltas of each other.\n'.repeat(
    30,
  );
  for (let i = 1; i <= 60; i++) {
    const message = `Commit ${i} – größer\n\n${text}${i}\n`;
    chunks.push(`commit refs/heads/work\nmark :${i}\n${signature('author', i)}${signature('committer', i)}`);
    chunks.push(`data ${Buffer.byteLength(message)}\n${message}`);
    chunks.push(i === 1 ? `from ${UPSTREAM}\n` : `from :${i - 1}\n`);
    if (i % 10 === 0) chunks.push(`merge :${i - 7}\n`);
    const file = `${text}line ${i}\n`;
    chunks.push(`M 100644 inline dir${i % 5}/file${i % 7}\ndata ${Buffer.byteLength(file)}\n${file}\n`);
  }
  chunks.push(`tag v1\nfrom :60\n${signature('tagger', 99)}data ${text.length}\n${text}\n`);
  await git(path, ['fetch', '--quiet', fork, 'refs/heads/main:refs/heads/main']);
  await git(path, ['fast-import', '--quiet'], chunks.join(''));
  return textOf(path, 'rev-parse', 'refs/heads/work');
}

describe('a pack that Git wrote', () => {
  const person = join(folder, 'person.git');
  let tip: string;

  beforeAll(async () => {
    tip = await realHistory(person);
  });

  const pack = (...args: string[]) =>
    git(
      person,
      ['pack-objects', '--revs', '--stdout', '--quiet', ...args],
      `${tip}\nrefs/tags/v1\n^refs/heads/main\n`,
    );

  it.each([
    ['as a push writes it', ['--thin', '--delta-base-offset']],
    ['with ref-deltas only', ['--thin']],
    [
      'packed as tightly as it goes',
      ['--window=250', '--depth=250', '--delta-base-offset', '--no-reuse-delta'],
    ],
    ['without compression', ['--delta-base-offset', '--compression=0']],
    ['without any delta', ['--window=0']],
  ])('is rewritten into one that Git takes: %s', async (_, args) => {
    const original = await pack(...args);
    const { pack: rewritten, tip: newTip } = await rewrite(piecesOf(original, 4096), tip);
    await take(rewritten, newTip);
    expect(rewritten.readUInt32BE(8)).toBe(original.readUInt32BE(8) - 1);

    const work = '--format=%T%n%B%n--';
    const log = (path: string, head: string) =>
      textOf(path, 'log', '--topo-order', work, head, `^${UPSTREAM}`);
    expect(await log(fork, newTip)).toBe(await log(person, tip));
    const people = '--format=%an %ae %at %ai %cn %ce %ct %ci %G?';
    const who = new Set((await textOf(fork, 'log', people, newTip, `^${UPSTREAM}`)).split('\n'));
    const date = '2027-01-15 08:00:00 +0000';
    expect([...who]).toEqual([
      `${BOT.name} ${BOT.email} ${COMMITTED_AT} ${date} ${BOT.name} ${BOT.email} ${COMMITTED_AT} ${date} N`,
    ]);
    const shape = '--format=%p';
    const merges = async (path: string, head: string) =>
      (await textOf(path, 'log', '--topo-order', shape, head, `^${UPSTREAM}`))
        .split('\n')
        .map((l) => l.split(' ').length);
    expect(await merges(fork, newTip)).toEqual(await merges(person, tip));
  });

  it('leaves nothing of the originals in the repository that took it', async () => {
    expect(await textOf(fork, 'fsck', '--strict', '--no-dangling', '--no-progress')).toBe('');
    const objects = await listObjects(fork);
    expect([...objects.values()].filter((type) => type === 'commit').length).toBeGreaterThan(60);
    const originals = (await textOf(person, 'rev-list', tip, `^${UPSTREAM}`)).split('\n');
    for (const oid of [...originals, await textOf(person, 'rev-parse', 'refs/tags/v1')])
      expect(objects.has(oid)).toBe(false);
    expect([...objects.values()]).not.toContain('tag');
  });

  it('has commits stored as deltas, or these tests would show little', async () => {
    const tight = await pack('--window=250', '--depth=250', '--delta-base-offset', '--no-reuse-delta');
    const [, name] = (await git(person, ['index-pack', '--stdin'], tight)).toString().trim().split('\t');
    // Of this pack: which of two packs Git reads an object from depends on their dates, in whole
    // seconds.
    const list = await textOf(person, 'verify-pack', '-v', `objects/pack/pack-${name}.idx`);
    const deltified = list.split('\n').filter((line) => /^[0-9a-f]{40} commit .* [0-9a-f]{40}$/.test(line));
    expect(deltified.length).toBeGreaterThan(20);
  });
});
