/** `npm start`, run as a person runs it: bad configuration, a port in use, the first minute, and Ctrl-C. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Program, descendantsOf, freePorts, isRunning, npmStart, untilPrinted } from './programs.ts';

let stateDir: string;
let programs: Program[];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'gitveil-test-'));
  programs = [];
});

afterEach(async () => {
  for (const { child } of programs) child.kill('SIGTERM');
  await Promise.all(programs.map(({ ended }) => ended));
  await rm(stateDir, { recursive: true, force: true });
});

function start(env: Record<string, string>): Program {
  const program = npmStart({ STATE_DIR: stateDir, ...env });
  programs.push(program);
  return program;
}

describe('npm start with a bad variable', () => {
  it.each([
    ['READ_TIMEOUT', '30sec', 'a duration such as 30s, 1m, 500ms or 1h30m'],
    ['PORT', '70000', 'a whole number from 1 to 65535'],
    ['LOG_FORMAT', 'xml', 'text or json'],
  ])('exits with 1 and names variable, value and what is allowed: %s=%s', async (name, value, allowed) => {
    const program = start({ [name]: value });
    expect(await program.ended).toBe(1);
    expect(program.output.stdout).toBe('');
    expect(program.output.stderr).toMatch(/^gitveil: [^\n]+\n$/);
    expect(program.output.stderr).toContain(`${name} is "${value}": it must be ${allowed}`);
  });
});

describe('npm start on a port in use', () => {
  it('exits with 1 and says what to do', async () => {
    const port = await freePorts();
    const server = createServer().listen(port, '127.0.0.1');
    try {
      const program = start({ PORT: String(port) });
      expect(await program.ended).toBe(1);
      expect(program.output.stderr).toBe(
        `gitveil: PORT is "${port}": that port is in use; stop what listens there, or set PORT to a free one\n`,
      );
    } finally {
      server.close();
    }
  });
});

describe('npm start with half of the hosted database', () => {
  it('warns, and names the other variable', async () => {
    const port = await freePorts();
    const server = createServer().listen(port, '127.0.0.1');
    try {
      // On a port in use: the warning comes first of all, and a whole start takes longer.
      const program = start({ PORT: String(port), DB_URL: 'https://db.example.org' });
      await program.ended;
      expect(program.output.stderr).toMatch(/^gitveil: warning: DB_URL is set, but DB_KEY is not: /);
    } finally {
      server.close();
    }
  });
});

describe('npm start', () => {
  it('prints commands that open a pull request when pasted, and ends with all its children on Ctrl-C', async () => {
    const port = await freePorts();
    const program = start({ PORT: String(port) });
    await untilPrinted(program, 'Press Ctrl-C to stop.');
    const commands = program.output.stdout.split('\n').filter((line) => /^ {2}(git|cd|echo) /.test(line));
    expect(commands).toHaveLength(6);
    await promisify(execFile)('bash', ['-e', '-c', commands.join('\n')], {
      cwd: stateDir,
      env: { PATH: process.env['PATH'], HOME: stateDir },
    });
    const page = /open (http:\S+)\n/.exec(program.output.stdout)?.[1];
    const html = await (await fetch(page!)).text();
    expect(html).toContain('Greet from nobody');
    expect(html).not.toContain('Ada');

    const family = descendantsOf(program.child.pid!);
    expect(family.filter(isRunning).length).toBeGreaterThanOrEqual(2);
    program.child.kill('SIGINT');
    expect(await program.ended).toBe(0);
    expect(family.filter(isRunning)).toEqual([]);
    expect(program.output.stderr).toBe('');
  });

  it('keeps its state, and does not seed twice', async () => {
    const port = await freePorts();
    const branch = `http://127.0.0.1:${port + 1}/api/v3/repos/octo/hello/branches/main`;
    const tips: unknown[] = [];
    for (const _ of ['first', 'second']) {
      const program = start({ PORT: String(port) });
      await untilPrinted(program, 'Press Ctrl-C to stop.');
      tips.push(await (await fetch(branch)).json());
      program.child.kill('SIGTERM');
      expect(await program.ended).toBe(0);
    }
    expect(tips[0]).toHaveProperty('commit.sha');
    expect(tips[1]).toEqual(tips[0]);
  });

  it('starts no code host when there is a token, and keeps prose out of a JSON log', async () => {
    const port = await freePorts();
    const program = start({ PORT: String(port), HOSTING_TOKEN: 'token', LOG_FORMAT: 'json' });
    await expect.poll(() => program.output.stderr, { timeout: 20_000 }).toContain('Press Ctrl-C to stop.');
    expect(program.output.stderr).toContain('https://github.com');
    expect(program.output.stdout).toBe('');
    await expect(fetch(`http://127.0.0.1:${port + 1}/`)).rejects.toThrow('fetch failed');
  });
});
