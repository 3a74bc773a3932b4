/** The button with which people who try the service go on when its limits stop them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { tryGit } from '../sandbox/support/git.ts';
import {
  type Program,
  commandLineOf,
  descendantsOf,
  freePorts,
  isRunning,
  nodeStart,
  untilPrinted,
} from './programs.ts';

let folder: string;
let program: Program | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  program = null;
});

afterEach(async () => {
  program?.child.kill('SIGTERM');
  await program?.ended;
  rmSync(folder, { recursive: true, force: true });
});

const forgetLimits = (hostUrl: string): Promise<Response> =>
  fetch(hostUrl, {
    method: 'POST',
    body: new URLSearchParams({ act: 'forget-limits' }),
    headers: { origin: hostUrl },
    redirect: 'manual',
  });

/** Over a connection of its own: the host may just be closing those of earlier answers. */
const read = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => void text(answer).then(resolve, reject)).on('error', reject);
  });

it('lets a client open pull requests again, and leaves nothing running when the program ends meanwhile', async () => {
  const port = await freePorts();
  const [service, host] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`];
  program = nodeStart({ env: { PORT: String(port), STATE_DIR: join(folder, 'state') } });
  await untilPrinted(program, 'Press Ctrl-C to stop.');
  const clone = join(folder, 'hello');
  execFileSync('git', ['clone', '--quiet', `${service}/v1/gh/octo/hello`, clone]);
  let count = 0;
  const push = async () => {
    count += 1;
    await tryGit(clone, 'switch', '--quiet', '-c', `change-${count}`, 'origin/main');
    await tryGit(clone, 'commit', '--quiet', '--allow-empty', '-m', `Change ${count}`);
    return tryGit(clone, 'push', 'origin', `change-${count}`);
  };
  for (let left = 5; left > 0; left--) expect(await push()).toMatchObject({ code: 0 });
  const refused = await push();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toMatch(/limit/i);

  // Two impatient clicks are one restart.
  const answers = await Promise.all([forgetLimits(host), forgetLimits(host)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  expect(await push()).toMatchObject({ code: 0 });
  expect(JSON.parse(await read(`${host}/api/v3/repos/octo/hello/pulls`))).toHaveLength(6);

  const family = descendantsOf(program.child.pid as number);
  expect(family.map(commandLineOf).filter((line) => line.includes('workerd serve'))).toHaveLength(1);
  // It ends in the middle of another restart.
  const answer = forgetLimits(host).catch(() => null);
  program.child.kill('SIGTERM');
  await answer;
  expect(await program.ended).toBe(0);
  expect(family.filter(isRunning)).toEqual([]);
  await expect(fetch(`${service}/health`)).rejects.toThrow('fetch failed');
  expect(program.output.stderr).toBe('');
});
