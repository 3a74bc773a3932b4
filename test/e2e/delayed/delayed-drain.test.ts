/** `npm run drain`, as an operator runs it before an older version takes the place of this one. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { delayed, pageOf } from '../support/delayed.ts';
import { OPERATOR } from '../support/operator.ts';
import { useOwnTestBed } from '../support/test-bed.ts';
import { exhaustive } from '../../support/exhaustive.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const bed = useOwnTestBed({ env: OPERATOR });

async function drain(password: string): Promise<string> {
  const env = { ...process.env, SERVICE_URL: bed.service.url, PANIC_PASSWORD: password };
  const { stdout } = await run(process.execPath, [join(ROOT, 'local/operator/drain.ts')], { env });
  return stdout;
}

it('publishes all that waits for its time, and says what is left', exhaustive, async () => {
  const { upstream, name } = await delayed(bed);
  const draining = drain(OPERATOR.PANIC_PASSWORD);
  // As each minute.
  await expect
    .poll(async () => (await bed.service.runScheduled(), (await bed.host.pulls(upstream)).length))
    .toBe(1);
  expect((await draining).split('\n').filter(Boolean)).toEqual([
    '1 to publish, 0 to review',
    '0 to publish, 0 to review',
  ]);
  await expect.poll(() => pageOf(bed, name)).toContain('/pull/');
});

it('says what is missing if the password is wrong', exhaustive, async () => {
  await expect(drain('wrong')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/invalid credentials\n.*PANIC_PASSWORD/),
  });
});

it.each([
  ['PANIC_PASSWORD is not set', {}],
  ['http://127.0.0.1:1 cannot be reached', { PANIC_PASSWORD: 'x', SERVICE_URL: 'http://127.0.0.1:1' }],
])('says a whole command if it cannot ask: %s', exhaustive, async (words, env) => {
  const program = join(ROOT, 'local/operator/drain.ts');
  await expect(run(process.execPath, [program], { env })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(`^drain: ${words}\n[^]*\\(set -a; \\. \\S+; npm run drain\\)\n$`),
    ),
  });
});
