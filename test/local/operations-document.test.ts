/**
 * Runs what docs/operations.md tells operators to rehearse: the service with its own code host, an
 * alert, and the panic switch. Between them, the button with which people who try the service go on
 * when its limits stop them.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { git, tryGit } from '../sandbox/support/git.ts';
import {
  commandLineOf,
  descendantsOf,
  freePorts,
  isRunning,
  nodeStart,
  ownEnvironment,
  ROOT,
  untilPrinted,
} from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const run = promisify(execFile);

const DOCUMENT = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');

/** Presses the button of the embedded code host. */
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
    get(url, { agent: false }, (answer) => void textOf(answer).then(resolve, reject)).on('error', reject);
  });

it(
  'a rehearsal shows an alert with its buttons, goes on without its limits, and the commands by hand work there',
  exhaustive,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
    const port = await freePorts();
    /** Replaces the usual ports with those of this test. */
    const here = (text: string) => text.replaceAll(':8080', `:${port}`).replaceAll(':8081', `:${port + 1}`);
    const [, variables = ''] = /^((?:[A-Z_]+=\S+ )+)npm start$/m.exec(here(DOCUMENT)) ?? [];
    const env = Object.fromEntries(
      variables
        .trim()
        .split(' ')
        .map((word) => word.split(/=(.*)/)),
    ) as Record<string, string>;
    const [, alerts = ''] = /<(http:\S+)> shows the alert/.exec(here(DOCUMENT)) ?? [];
    const program = nodeStart({ env: { ...env, PORT: String(port), STATE_DIR: join(folder, 'state') } });
    try {
      await untilPrinted(program, 'Press Ctrl-C to stop.');
      const service = env['SERVICE_URL'] ?? '';
      const clone = join(folder, 'hello');
      await git(folder, 'clone', '--quiet', `${service}/v1/gh/octo/hello`, clone);
      for (let number = 1; number <= 6; number++) {
        await git(clone, 'switch', '--quiet', '-c', `change-${number}`, 'origin/main');
        await git(clone, 'commit', '--quiet', '--allow-empty', '-m', `Change ${number}`);
        const pushed = await tryGit(clone, 'push', 'origin', `change-${number}`);
        expect(pushed.code, pushed.output).toBe(number === 6 ? 1 : 0);
        if (number === 6) expect(pushed.output).toMatch(/limit/i);
      }
      const shown = async () => (await fetch(alerts)).text();
      await expect.poll(shown).toContain('Rate limit exceeded');
      const page = await shown();
      for (const button of ['Activate panic', 'Close burst PRs', 'Deactivate panic'])
        expect(page).toContain(button);

      // Two impatient clicks are one restart.
      const host = `http://127.0.0.1:${port + 1}`;
      const answers = await Promise.all([forgetLimits(host), forgetLimits(host)]);
      expect(answers.map(({ status }) => status)).toEqual([303, 303]);
      expect(await tryGit(clone, 'push', 'origin', 'change-6')).toMatchObject({ code: 0 });
      expect(JSON.parse(await read(`${host}/api/v3/repos/octo/hello/pulls`))).toHaveLength(6);
      const family = descendantsOf(program.child.pid as number);
      expect(family.map(commandLineOf).filter((line) => line.includes('workerd serve'))).toHaveLength(1);

      const [, panic = ''] = /^(curl -X POST "\$SERVICE_URL\/admin\/panic".*?)\n\n/ms.exec(DOCUMENT) ?? [];
      const [, body = ''] = /-d '(.*)'/.exec(panic) ?? [];
      const answer = await fetch(`${service}/admin/panic`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: body.replace('…', env['PANIC_PASSWORD'] ?? ''),
      });
      expect(await answer.json()).toEqual({ panic_mode: true, state: 'activated' });
      await git(clone, 'commit', '--quiet', '--allow-empty', '-m', 'Another change');
      const refused = await tryGit(clone, 'push', 'origin', 'change-6');
      expect(refused.output).toContain('SERVICE TEMPORARILY SUSPENDED');

      const doctor = await run(process.execPath, ['local/operator/doctor.ts', '--alert'], {
        cwd: ROOT,
        env: { ...ownEnvironment(), ...env, STATE_DIR: join(folder, 'of-the-doctor') },
      });
      expect(doctor.stdout).toMatch(/^ok +test alert +was accepted: check whether it reached you$/m);
      expect(doctor.stdout).toMatch(/^ok +pushes +are rejected already$/m);
      expect(await shown()).toContain('A test alert');

      // The program ends in the middle of another restart, and leaves nothing running.
      const forgotten = forgetLimits(host).catch(() => null);
      program.child.kill('SIGTERM');
      await forgotten;
      expect(await program.ended).toBe(0);
      expect(family.filter(isRunning)).toEqual([]);
      await expect(fetch(`${service}/health`)).rejects.toThrow('fetch failed');
      expect(program.output.stderr).toBe('');
    } finally {
      program.child.kill('SIGTERM');
      await program.ended;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
