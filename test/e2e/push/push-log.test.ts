/**
 * Lines of the log about a push: why it was refused, as a code, and nothing that came from the
 * person.
 */
import { expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import { useOwnTestBed } from '../support/test-bed.ts';

const bed = useOwnTestBed();

/** Lists what is logged of a push of one new commit, without its time. */
async function logged(...args: string[]): Promise<string[]> {
  const { clone, person } = await contribute(bed);
  const signature = `Signed-off-by: ${person.committerName} <${person.committerEmail}>`;
  await clone.commit({ message: `One\n\n${signature}\n` });
  const before = bed.logLines.length;
  await clone.push(...args, 'origin', 'HEAD:topic');
  const lines = (): string[] => bed.logLines.slice(before).filter((line) => / (push|withdrawal) /.test(line));
  await expect.poll(lines).not.toEqual([]);
  return lines().map((line) => line.slice(line.indexOf(' ') + 1).replace(/durationMs=\d+/, 'durationMs=N'));
}

it.each([
  [[], 'warn push refused durationMs=N reason=names'],
  [['-o', 'publish-name'], 'warn push refused durationMs=N reason=options'],
  [['-o', 'title='], 'warn push refused durationMs=N reason=options'],
  [['-o', 'sign-off', '-o', 'base=none-of-these'], 'warn push refused durationMs=N reason=base'],
  [['-o', 'withdraw', '-o', 'pr-hash=0123456789ab'], 'warn withdrawal refused reason=pr-key'],
  [['-o', 'preview'], 'info push previewed durationMs=N'],
  [['-o', 'sign-off'], 'info push accepted durationMs=N'],
  [['-o', 'sign-off', '-o', 'delay=1h'], 'info push delayed durationMs=N'],
])('%j is logged as %s', async (options, line) => {
  expect(await logged(...options)).toEqual([line]);
});

it('a failure of the code host is logged with its step, its class and the status of the answer', async () => {
  bed.sandbox.faults.inject({ method: 'POST', path: /\/forks$/, answer: { status: 500 }, times: 50 });
  expect(await logged('-o', 'sign-off')).toEqual([
    'warn push refused durationMs=N reason=fork error=HostError status=500',
  ]);
});
