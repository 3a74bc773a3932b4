/**
 * Lines that a person reads in the terminal when all goes well: few of them, nothing twice, and no
 * warning of what the service offers itself.
 */
import { describe, expect, it } from 'vitest';
import { contribute } from '../support/contribution.ts';
import type { GitRun } from '../support/person.ts';
import { keyIn, remoteLines } from '../support/push-output.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

/** Twelve, and the empty line before the last ones. */
const MOST_LINES = 13;

/**
 * The lines of a push that succeeded.
 * @param more lines that tell what is special.
 */
function readable(pushed: GitRun, more = 0): string[] {
  expect(pushed.code, pushed.stderr).toBe(0);
  const shown = pushed.stderr.split('\n').filter((line) => line.startsWith('remote:'));
  expect(shown.length, pushed.stderr).toBeLessThanOrEqual(MOST_LINES + more);
  const lines = remoteLines(pushed);
  const said = lines.filter((line) => line !== '');
  expect(new Set(said).size, pushed.stderr).toBe(said.length);
  expect(pushed.stderr).not.toMatch(/warning|trust|cannot be recovered/i);
  return lines;
}

/** The words that the last line says to type, without `git push`. */
function toType(lines: readonly string[]): string[] {
  const line = lines.at(-1) ?? '';
  expect(line).toMatch(/^ {2}git push -o pr-hash=/);
  return line.trim().replaceAll("'", '').split(' ').slice(2);
}

describe.each(['hash', 'key'])('with PR_UPDATE_POLICY=%s', (policy) => {
  const bed = useOwnTestBed({ env: { PR_UPDATE_POLICY: policy } });

  it('a pull request is opened, updated and withdrawn in few lines', async () => {
    const { clone } = await contribute(bed);
    await clone.commit();
    const opened = await clone.push('origin', 'HEAD:topic');
    const command = toType(readable(opened));
    await clone.commit();
    const updated = readable(await clone.push(...command));
    expect(updated).toContain('Your pull request has been updated.');
    expect(toType(updated)).toEqual(command);
    const withdraw = ['-o', 'withdraw', '-o', `pr-key=${keyIn(opened)}`, ...command];
    expect(readable(await clone.push(...withdraw))).toHaveLength(4);
  });

  it('a draft says that it is one', exhaustive, async () => {
    const { clone } = await contribute(bed);
    await clone.commit();
    const lines = readable(await clone.push('-o', 'draft', 'origin', 'HEAD:topic'));
    expect(lines).toContain('Your pull request is open as a draft.');
  });

  it('a sign-off and a base fit in', exhaustive, async () => {
    const { clone } = await contribute(bed);
    await clone.commit({ args: ['--signoff'] });
    const options = ['-o', 'sign-off', '-o', 'squash', '-o', 'base=main'];
    const command = toType(readable(await clone.push(...options, 'origin', 'HEAD:topic'), 1));
    expect(command.join(' ')).toContain(' -o squash -o sign-off -o base=main http');
    await clone.commit({ args: ['--signoff'] });
    expect(toType(readable(await clone.push(...command)))).toEqual(command);
  });

  it('a delayed push shows the address of its page, and no more lines than fit', async () => {
    const { clone } = await contribute(bed);
    await clone.commit();
    const push = () => clone.push('-o', 'delay=1h', '-o', 'title=One thing', 'origin', 'HEAD:topic');
    const lines = readable(await push());
    expect(lines).toEqual([
      'Save this address now. It is shown once, and only there can you change what becomes of this push:',
      expect.stringMatching(/^  Page: +http\S+\/v1\/delayed\/[0-9a-f]{32}$/),
      '',
      expect.stringMatching(/^Delayed: it will be published between .* UTC, or minutes later/),
      'Nothing of it is public yet.',
      'The code host has only seen that somebody read this repository just now, as a fetch does.',
      'At the address above, you can publish it now, or give it up. Keep it secret: so can everybody who has it.',
    ]);
    expect(readable(await push()).length).toBeLessThanOrEqual(8);
  });
});
