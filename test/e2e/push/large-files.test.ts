/**
 * Files over the limit are named by their paths, with the command that takes them out; the command
 * is run as it is printed, and the push passes then.
 */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';
import { type Contribution, contribute, expectAccepted, expectRefused } from '../support/contribution.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const bed = useOwnTestBed();

const MiB = 1024 * 1024;
/** Bytes that no compression makes smaller. */
const noise = (megabytes: number): Buffer => randomBytes(megabytes * MiB);

/** Pushes what is refused. @returns the lines of the answer. */
async function refused({ clone, upstream }: Contribution): Promise<string[]> {
  return expectRefused(bed, upstream, await clone.push(), 'the push is too large');
}

/** Runs the command among these lines, in a folder of the clone. */
async function runPrinted({ clone, person }: Contribution, lines: readonly string[]): Promise<void> {
  const command = lines.find((line) => /^ +git (?:rm|rebase) /.test(line));
  expect(command, lines.join('\n')).toBeDefined();
  const env = { GIT_EDITOR: 'false', GIT_SEQUENCE_EDITOR: 'false' };
  await person.mustRun('sh', `${clone.path}/data`, ['-c', command!], { env });
}

it('one in the last commit is named, and the printed command takes it out', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ message: 'Add a word\n' });
  const files = { 'data/measured values.bin': noise(11), 'data/notes.txt': 'Notes.\n' };
  await clone.commit({ message: 'Add the data\n', files });
  const lines = await refused(contribution);
  expect(lines).toContainEqual(
    expect.stringMatching(/^ {2}data\/measured values\.bin: 11\.0 MB, since [0-9a-f]{12} "Add the data"$/),
  );
  await runPrinted(contribution, lines);
  await expectAccepted(bed, contribution, await clone.push());
});

it('one with a pattern in its name is taken out alone', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ files: { 'data/scan[1].bin': noise(11), 'data/scan1.bin': 'Small.\n' } });
  await runPrinted(contribution, await refused(contribution));
  expect(await clone.git('ls-files', 'data')).toBe('data/scan1.bin');
  await expectAccepted(bed, contribution, await clone.push());
});

it('several in earlier commits are named at once, and leave all of them', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ message: 'Add one\n', files: { 'data/one.bin': noise(11), 'data/a.txt': 'A.\n' } });
  await clone.commit({ message: 'Add two\n', files: { "data/it's two.bin": noise(12), 'b.txt': 'B.\n' } });
  await clone.commit({ message: 'Mend the words\n', files: { 'b.txt': 'C.\n' } });
  const lines = await refused(contribution);
  const told = lines.join('\n');
  expect(told).toContain('2 files are over 10 MB:');
  expect(told).toMatch(/data\/it's two\.bin: 12\.0 MB, since [0-9a-f]{12} "Add two"/);
  expect(told).toMatch(/data\/one\.bin: 11\.0 MB, since [0-9a-f]{12} "Add one"/);
  await runPrinted(contribution, lines);
  await expectAccepted(bed, contribution, await clone.push());
});

it('one that a later commit has deleted is named, too', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone } = contribution;
  await clone.commit({ message: 'Add it\n', files: { 'data/gone.bin': noise(11), 'data/a.txt': 'A.\n' } });
  await clone.git('rm', '--quiet', 'data/gone.bin');
  await clone.git('commit', '--quiet', '--message', 'Delete it');
  const lines = await refused(contribution);
  expect(lines.join('\n')).toMatch(/data\/gone\.bin: 11\.0 MB, since [0-9a-f]{12} "Add it"/);
  await runPrinted(contribution, lines);
  await expectAccepted(bed, contribution, await clone.push());
});

it('one is told beside everything else that is wrong', async () => {
  const contribution = await contribute(bed);
  const { clone, person } = contribution;
  const message = `Add the data\n\nBy ${person.authorName}.\n`;
  await clone.commit({ message, files: { 'big.bin': Buffer.alloc(11 * MiB) } });
  const told = (await refused(contribution)).join('\n');
  expect(told).toContain('big.bin: 11.0 MB');
  expect(told).toContain('Your name or address would become public');
});

it('one whose path nobody knows is told by its size, with a command that finds it', exhaustive, async () => {
  const contribution = await contribute(bed);
  const { clone, upstream } = contribution;
  await clone.commit({ files: { 'zeros.bin': Buffer.alloc(40 * MiB) } });
  // Zeros shrink to a thousandth, so that nothing is looked at closely.
  const told = (await expectRefused(bed, upstream, await clone.push(), 'the push is too large')).join('\n');
  expect(told).toContain('A file is over 10 MB: it has 40.0 MB. To find it:');
});
