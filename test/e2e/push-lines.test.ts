/**
 * What a person reads in the terminal when all goes well: few lines, nothing twice, and no warning of what the service
 * offers itself.
 */
import { describe, expect, it } from 'vitest';
import { contribute } from './support/contribution.ts';
import type { GitRun } from './support/person.ts';
import { keyIn, remoteLines, statusTable } from './support/push-output.ts';
import { useTestBed } from './support/test-bed.ts';

const MOST_LINES = 15;

/** The lines of a push that succeeded. */
function readable(pushed: GitRun): string[] {
  expect(pushed.code, pushed.stderr).toBe(0);
  const shown = pushed.stderr.split('\n').filter((line) => line.startsWith('remote:'));
  expect(shown.length, pushed.stderr).toBeLessThanOrEqual(MOST_LINES);
  const lines = remoteLines(pushed);
  const said = lines.filter((line) => line !== '');
  expect(new Set(said).size, pushed.stderr).toBe(said.length);
  expect(pushed.stderr).not.toMatch(/warning|trust|cannot be recovered/i);
  return lines;
}

/** What the last line says to type, without `git push`. */
function toType(lines: readonly string[]): string[] {
  const line = lines.at(-1) ?? '';
  expect(line).toMatch(/^ {2}git push -o pr-hash=/);
  return line.trim().replaceAll("'", '').split(' ').slice(2);
}

describe.each(['hash', 'key'])('with PR_UPDATE_POLICY=%s', (policy) => {
  const bed = useTestBed({ env: { PR_UPDATE_POLICY: policy } });

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

  it('a second pull request with the same commits is told of', async () => {
    const { clone } = await contribute(bed);
    await clone.commit();
    const [, hash = ''] = toType(readable(await clone.push('origin', 'HEAD:topic')));
    const page = `${bed.service.url}/v1/pr/${hash.slice('pr-hash='.length)}`;
    await expect.poll(async () => (await fetch(page)).status).toBe(200);
    const [first, second] = readable(await clone.push('origin', 'HEAD:topic'));
    expect(first).toMatch(/^NEW pull request: the same commits are open as /);
    expect(second).toContain(`Update that one with -o ${hash}`);
  });

  it('a draft says that it is one', async () => {
    const { clone } = await contribute(bed);
    await clone.commit();
    const lines = readable(await clone.push('-o', 'draft', 'origin', 'HEAD:topic'));
    expect(lines).toContain('Your pull request is open as a draft.');
  });

  it('a sign-off and a base fit in', async () => {
    const { clone } = await contribute(bed);
    await clone.commit({ args: ['--signoff'] });
    const options = ['-o', 'sign-off', '-o', 'squash', '-o', 'base=main'];
    const command = toType(readable(await clone.push(...options, 'origin', 'HEAD:topic')));
    expect(command.join(' ')).toContain(' -o squash -o sign-off -o base=main http');
    await clone.commit({ args: ['--signoff'] });
    expect(toType(readable(await clone.push(...command)))).toEqual(command);
  });

  it('a held push is changed, published or given up by the one command that it shows', async () => {
    const { clone, upstream } = await contribute(bed);
    await clone.commit();
    const options = ['-o', 'title=One thing', '-o', 'description=Why.', '-o', 'description=And how.'];
    const push = () => clone.push('-o', 'delay=1h', ...options, '-o', 'draft', 'origin', 'HEAD:topic');
    const held = readable(await push());
    expect(held).toHaveLength(8);
    expect(held[6]).toMatch(
      /^Change it, publish it now \(add -o delay=0s\) or give it up \(add -o withdraw.*\):$/,
    );
    expect(held[7]).toMatch(
      /-o 'title=One thing' -o description=Why\. -o 'description=And how\.' -o draft http/,
    );
    expect(readable(await push())).toEqual(held);
    const run = (line: string, ...more: string[]) =>
      clone.person.mustRun('sh', clone.path, ['-c', `${line} "$@"`, 'sh', ...more], {
        env: { GIT_USER_AGENT: clone.person.userAgent },
      });
    await clone.commit();
    await run(held[7] as string);
    expect(await bed.host.pulls(upstream)).toEqual([]);
    await run(held[7] as string, '-o', 'delay=0s');
    const pull = await bed.host.onlyPull(upstream);
    expect([pull.title, pull.body]).toEqual(['One thing', 'Why.\nAnd how.']);
    const second = await contribute(bed);
    await second.clone.commit();
    const hold = await second.clone.push('-o', 'delay=1h', 'origin', 'HEAD:topic');
    const withdraw = ['-o', 'withdraw', '-o', `pr-key=${keyIn(hold)}`];
    const lost = await second.clone.push(...withdraw, ...toType(readable(hold)));
    expect(readable(lost)).toContain('Your push was held, and is given up.');
    expect(statusTable(lost)).toHaveLength(1);
  });
});
