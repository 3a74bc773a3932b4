/** What docs/operations.md tells operators to rehearse: the service with its own code host, an alert, and the panic switch. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { git, tryGit } from '../sandbox/support/git.ts';
import { freePorts, nodeStart, ROOT, untilPrinted } from './programs.ts';

const DOCUMENT = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');

it('a rehearsal shows an alert with its buttons, and the commands by hand work there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  const port = await freePorts();
  /** With the ports of this test in place of the usual ones. */
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
    const codes: (number | null)[] = [];
    for (let number = 1; number <= 6; number++) {
      await git(clone, 'switch', '--quiet', '-c', `change-${number}`, 'origin/main');
      await git(clone, 'commit', '--quiet', '--allow-empty', '-m', `Change ${number}`);
      codes.push((await tryGit(clone, 'push', 'origin', `change-${number}`)).code);
    }
    expect(codes).toEqual([0, 0, 0, 0, 0, 1]);
    const shown = async () => (await fetch(alerts)).text();
    await expect.poll(shown).toContain('Rate limit exceeded');
    const page = await shown();
    for (const button of ['Activate panic', 'Close burst PRs', 'Deactivate panic'])
      expect(page).toContain(button);
    const [, panic = ''] = /^(curl -X POST "\$SERVICE_URL\/admin\/panic".*?)\n\n/ms.exec(DOCUMENT) ?? [];
    const [, body = ''] = /-d '(.*)'/.exec(panic) ?? [];
    const answer = await fetch(`${service}/admin/panic`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: body.replace('…', env['PANIC_PASSWORD'] ?? ''),
    });
    expect(await answer.json()).toEqual({ panic_mode: true, state: 'activated' });
    const refused = await tryGit(clone, 'push', 'origin', 'change-6');
    expect(refused.output).toContain('SERVICE TEMPORARILY SUSPENDED');
  } finally {
    program.child.kill('SIGTERM');
    await program.ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
