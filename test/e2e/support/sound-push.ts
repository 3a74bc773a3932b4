/**
 * A push that is in order, taken apart, for tests that spoil one thing in it and see what the
 * service says.
 */
import { expect } from 'vitest';
import type { Entry, ObjectType } from '../../support/pack-builder.ts';
import { type Contribution, contribute } from './contribution.ts';
import { readObjects } from './objects.ts';
import type { TestBed } from './test-bed.ts';
import { pushBody, sendPush, type WireAnswer } from './wire.ts';
import { type PushReport, readReport } from '../../support/pkt-line.ts';

export interface SoundPush extends Contribution {
  readonly tip: string;
  /** The commit, its trees and its file. */
  readonly commit: Entry & { readonly content: Uint8Array };
  readonly trees: readonly (Entry & { readonly content: Uint8Array })[];
  readonly blob: Entry & { readonly content: Uint8Array };
  /** All of them, the commit first. */
  readonly entries: readonly Entry[];
}

export const REF = 'refs/heads/fix';

/** One commit with one new file of some length, on top of upstream. */
export async function makeSoundPush(bed: TestBed): Promise<SoundPush> {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  const tip = await clone.commit({ files: { 'file.txt': 'a line of the file\n'.repeat(100) } });
  const listed = await clone.git('rev-list', '--objects', 'HEAD', '^origin/main');
  const oids = listed.split('\n').map((line) => line.split(' ')[0] as string);
  const entries = (await readObjects(clone.gitFolder, oids)).map(({ type, content }) => ({
    type: type as ObjectType,
    content,
  }));
  const commit = entries.find(({ type }) => type === 'commit');
  const blob = entries.find(({ type }) => type === 'blob');
  if (commit === undefined || blob === undefined) throw new Error('the push lacks an object');
  const trees = entries.filter(({ type }) => type === 'tree');
  return { ...contribution, tip, commit, trees, blob, entries: [commit, ...trees, blob] };
}

/** Pushes a pack by hand, as a new branch. */
export function pushPack(
  { upstream, person, tip }: SoundPush,
  pack: Uint8Array,
  newId: string = tip,
): Promise<WireAnswer> {
  return sendPush(upstream.url, person, pushBody({ commands: [{ newId, ref: REF }], pack }));
}

/** Nothing of the push stays on the host. */
export async function expectNothingMade(
  bed: TestBed,
  { upstream }: Pick<SoundPush, 'upstream'>,
): Promise<void> {
  expect(await bed.host.pulls(upstream)).toEqual([]);
  expect(await bed.host.workBranches(upstream)).toEqual([]);
}

export interface ExpectedRefusal {
  /** Default: `ok`. */
  readonly unpack?: string | RegExp;
  readonly reason: string;
  /** A line that explains. */
  readonly line?: RegExp;
}

/** The answer is complete, refuses the branch with its reason, and nothing was made of it. */
export async function expectInBandRefusal(
  bed: TestBed,
  sound: SoundPush,
  answer: WireAnswer,
  { unpack = 'ok', reason, line }: ExpectedRefusal,
): Promise<PushReport> {
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/x-git-receive-pack-result');
  const read = readReport(answer.body);
  expect(read.report).toEqual([`unpack ${unpack}`, `ng ${REF} push rejected: ${reason}`]);
  expect(read.errors).toEqual([`push rejected: ${reason}`]);
  if (line !== undefined) expect(read.progress.join('\n')).toMatch(line);
  await expectNothingMade(bed, sound);
  return read;
}

/** The same push without its fault becomes a pull request: the service serves on. */
export async function expectStillServing(bed: TestBed, { clone, upstream }: SoundPush): Promise<void> {
  const before = (await bed.host.pulls(upstream)).length;
  const pushed = await clone.push('origin', `HEAD:${REF}`);
  expect(pushed.code, pushed.stderr).toBe(0);
  expect(await bed.host.pulls(upstream)).toHaveLength(before + 1);
}
