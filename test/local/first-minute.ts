/**
 * A newcomer's first minute, word for word: clones this repository as it is committed, types what
 * README.md says first, pastes what is printed, and presses Ctrl-C. None of the service's variables
 * is set but PORT.
 *
 * And the same with what docs/deploy.md installs on a server. Both in a folder whose name has a
 * space.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPullRequestPage, runPrintedCommands } from './printed-commands.ts';
import {
  ROOT,
  descendantsOf,
  freePorts,
  inTerminal,
  isRunning,
  npmStart,
  ownEnvironment,
  pressCtrlC,
  shownBy,
  untilPrinted,
} from './programs.ts';

const PASSWORD = 'a password of this test, which is long enough';
/** docs/deploy.md says it. */
const MOST_MIB_OF_A_SERVER = 350;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil first minute '));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function cloned(name: string): string {
  const clone = join(folder, name);
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  return clone;
}

/** Pastes what was printed, and answers the page of the pull request that this opens. */
async function pastedFrom(printed: string): Promise<string> {
  const desk = mkdtempSync(join(folder, 'desk-'));
  return readPullRequestPage(await runPrintedCommands(printed, desk));
}

it('works as README.md says', async () => {
  const seconds = stopwatch();
  const clone = cloned('gitveil');
  const command = /^```sh\n(.+?) +#/m.exec(readFileSync(join(clone, 'README.md'), 'utf8'))?.[1] ?? '';
  expect(command).toBe('npm ci && npm start');

  const env = { PORT: String(await freePorts()) };
  const program = inTerminal(command, { cwd: clone, env });
  try {
    await untilPrinted(program, 'Press Ctrl-C to stop.');
    const untilStarted = seconds();
    // Only this project may complain of an old Node.js: its packages run on the one that it brings.
    expect(shownBy(program)).not.toMatch(/EBADENGINE +package: '(?!gitveil@)/);

    const page = await pastedFrom(shownBy(program));
    const untilPullRequest = seconds();
    expect(page).toContain('Greet from nobody');
    expect(page).not.toContain('Ada');

    const family = descendantsOf(program.child.pid as number);
    pressCtrlC(program);
    await program.ended;
    expect(shownBy(program)).toMatch(/\^C$/);
    expect(family.filter(isRunning)).toEqual([]);
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' })).toBe('');
    // For docs/development.md.
    console.log(`clone, install and start: ${untilStarted} s; what is pasted then: ${untilPullRequest} s`);
  } finally {
    program.child.kill('SIGTERM');
    await program.ended;
    process.stdout.write(shownBy(program));
  }
});

it('works with what a server installs, which is small, and so do the commands of its operator', async () => {
  const clone = cloned('a server');
  const document = readFileSync(join(clone, 'docs/deploy.md'), 'utf8');
  const [, install = ''] = /^useradd[^`]*?^(npm ci .*?) &&/m.exec(document) ?? [];
  expect(install).toBe('npm ci --omit=dev');
  execFileSync('bash', ['-c', `${install} --prefer-offline`], { cwd: clone, env: ownEnvironment() });
  const mib = execFileSync('du', ['-sm', 'node_modules'], { cwd: clone, encoding: 'utf8' });
  expect(parseInt(mib, 10)).toBeLessThan(MOST_MIB_OF_A_SERVER);

  const port = await freePorts();
  const env = { PORT: String(port), PANIC_PASSWORD: PASSWORD };
  const run = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync('npm', [...words], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...ownEnvironment(), ...env, SERVICE_URL: `http://127.0.0.1:${port}` },
    });
    return `${stdout}${stderr}exit code ${status}`;
  };
  const program = npmStart({ cwd: clone, env });
  try {
    await untilPrinted(program, 'Press Ctrl-C to stop.');
    expect(await pastedFrom(program.output.stdout)).toContain('Greet from nobody');
    expect(run('run', '-s', 'drain')).toBe('0 to publish, 0 to review\nexit code 0');
    expect(run('run', '-s', 'doctor')).toMatch(/^ok +host gh +embedded[^]*exit code 0$/m);
    expect(run('run', '-s', 'export-secret')).toMatch(/^[0-9a-f]{64}\nexit code 0$/);
    expect(run('run', '-s', 'forks')).toMatch(/^gitveil: HOSTING_TOKEN is not set[^]*exit code 1$/);
    const echo = `http://127.0.0.1:${port}/health`;
    expect(run('run', '-s', 'check-egress', '--', echo, '--local')).toMatch(
      /^It answered 200:[^]*exit code 0$/,
    );
    expect(run('run', '-s', 'build', '--', '--keep')).toMatch(/start\.json\nexit code 0$/);
  } finally {
    program.child.kill('SIGTERM');
    await program.ended;
  }
  // What only developers and a deployment to Cloudflare need is missing, and said in a line.
  const needsAll = [
    ['test'],
    ['run', 'deploy', '--', '--dry-run'],
    ['run', 'check-egress', '--', 'http://127.0.0.1:9'],
  ];
  for (const words of needsAll) {
    expect(run('-s', ...words)).toBe('This needs all packages. Run: npm ci\nexit code 1');
  }
});

/** Each call answers the seconds since the last one. */
function stopwatch(): () => string {
  let last = performance.now();
  return () => {
    const since = performance.now() - last;
    last += since;
    return (since / 1000).toFixed(1);
  };
}
