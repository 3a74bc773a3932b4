/** The fork server, which starts the programs of these tests, as far as a host relies on it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { exhaustive } from '../../support/exhaustive.ts';

it('says when a program has started, and then its group can be ended', exhaustive, async () => {
  const child = spawn('sh', ['-c', 'cat; echo never'], { detached: true });
  child.once('spawn', () => process.kill(-Number(child.pid), 'SIGKILL'));
  expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
});

it(
  'ends a program whose output nobody reads, and tells why one could not be started',
  exhaustive,
  async () => {
    expect(await once(spawn('sh', ['-c', 'echo unread; exit 3']), 'close')).toEqual([3, null]);
    const [error] = (await once(spawn('no-such-program', []), 'error').catch((reason: unknown) => [
      reason,
    ])) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ENOENT');
  },
);
