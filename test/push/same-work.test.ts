/** Advice about commits that are open already. The rest: test/e2e/push/doubles.test.ts. */
import { expect, it } from 'vitest';
import type { PlannedCommits } from '../../src/git/objects/planned-commits.ts';
import { tellSameWork } from '../../src/push/same-work.ts';

type Told = Parameters<typeof tellSameWork>;

it.each([
  [{}, '-o pr-hash=0123456789ab'],
  [{ isSignedOff: true }, '-o pr-hash=0123456789ab -o sign-off'],
  [{ isSignedOff: true, stripsTrails: true }, '-o pr-hash=0123456789ab -o sign-off -o strip-trails'],
])('the update that is advised has the options that change messages: %j', async (given, options) => {
  const lines: string[] = [];
  const run = {
    settings: { prUpdatePolicy: 'hash', pushDoubles: 'tell' },
    reply: { noteSame: async (_: unknown, told: readonly string[]) => void lines.push(...told) },
  } as unknown as Told[0];
  const base = { name: 'refs/heads/main', oid: '0'.repeat(40) };
  const commits = { length: 1 } as PlannedCommits;
  const push = { commits, isSignedOff: false, stripsTrails: false, base, prHash: null, ...given };
  const same = { url: 'https://host.test/1', prHash: '0123456789ab', shared: 1, state: 'open' } as Told[2];
  await tellSameWork(run, push, same);
  expect(lines.at(-1)).toBe(`Update that one with ${options}.`);
});
