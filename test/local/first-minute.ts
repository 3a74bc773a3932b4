/**
 * A newcomer's first minute, word for word: clones this repository as it is committed, types what README.md says first,
 * pastes what is printed, and presses Ctrl-C. None of the service's variables is set but PORT.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
  pressCtrlC,
  shownBy,
  untilPrinted,
} from './programs.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-first-minute-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('works as README.md says', async () => {
  const seconds = stopwatch();
  const clone = join(folder, 'gitveil');
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  const command = /^```sh\n(.+?) +#/m.exec(readFileSync(join(clone, 'README.md'), 'utf8'))?.[1] ?? '';
  expect(command).toBe('npm ci && npm start');

  const env = { PORT: String(await freePorts()) };
  const program = inTerminal(command, { cwd: clone, env });
  try {
    await untilPrinted(program, 'Press Ctrl-C to stop.');
    const untilStarted = seconds();
    expect(shownBy(program)).not.toContain('EBADENGINE');

    const desk = join(folder, 'desk');
    mkdirSync(desk);
    const page = await readPullRequestPage(await runPrintedCommands(shownBy(program), desk));
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

/** Each call answers the seconds since the last one. */
function stopwatch(): () => string {
  let last = performance.now();
  return () => {
    const since = performance.now() - last;
    last += since;
    return (since / 1000).toFixed(1);
  };
}
