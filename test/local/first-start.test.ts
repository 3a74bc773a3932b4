/**
 * The first `npm start` in a checkout: nothing is set but PORT, and nothing has been kept. The
 * checkout is a copy without Git, whose packages are a link.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/is-installed.ts';
import { git, tryGit } from '../sandbox/support/git.ts';
import { readPullRequestPage, runPrintedCommands } from './printed-commands.ts';
import {
  type Program,
  ROOT,
  commandLineOf,
  descendantsOf,
  freePorts,
  inTerminal,
  isRunning,
  npmStart,
  pressCtrlC,
  residentMiB,
  shownBy,
  untilPrinted,
} from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const WELCOME_END = 'Press Ctrl-C to stop.';
/**
 * Names that a start does not need, or under which programs keep files in a checkout. The packages
 * are a link.
 */
const LEFT_OUT = /^(node_modules|\.git|\.state|\.wrangler|\.build|test|docs|bench)$/;

const KEPT = '.build/start.json';

let folder: string;
let checkout: string;
/** Folder for files that programs keep only while they run. */
let temporary: string;
let program: Program;

function makeCheckout(): void {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  checkout = join(folder, 'checkout');
  mkdirSync(checkout);
  temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  for (const name of readdirSync(ROOT).filter((entry) => !LEFT_OUT.test(entry))) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
}

async function removeCheckout(): Promise<void> {
  program.child.kill('SIGTERM');
  await program.ended;
  rmSync(folder, { recursive: true, force: true });
}

describe('the first start', () => {
  let port: number;
  /** Status of the first request, which is sent as soon as the port is open. */
  let firstStatus: number | undefined;

  beforeAll(async () => {
    makeCheckout();
    port = await freePorts();
    program = npmStart({ cwd: checkout, env: { PORT: String(port) } });
    await untilOpen(port);
    firstStatus = await new Promise<number | undefined>((resolve, reject) => {
      request({ port, path: '/api/stats', agent: false }, (response) => resolve(response.resume().statusCode))
        .once('error', reject)
        .end();
    });
    await untilPrinted(program, WELCOME_END);
  });
  afterAll(removeCheckout);
  afterEach(() => expect(program.output.stderr).toBe(''));

  it('opens its port when all behind it is ready, and before it says so', () => {
    expect(firstStatus).toBe(200);
  });

  it('holds less than 180 MiB when idle, besides npm', async () => {
    const family = descendantsOf(program.child.pid as number);
    await expect.poll(() => residentMiB(family)).toBeLessThan(180);
    // The program, workerd and its guard: what has built it all is gone.
    expect(family).toHaveLength(3);
  });

  it(
    'prints a remote to which the maintainer can push a .gitveil.yml, and the service follows it',
    exhaustive,
    async () => {
      const [remote = ''] = /http:\/\/\w+:\w+@\S+/.exec(program.output.stdout) ?? [];
      const clone = join(makeDesk(), 'hello');
      await git(folder, 'clone', '--quiet', remote, clone);
      writeFileSync(join(clone, '.gitveil.yml'), 'workflows: false\n');
      await git(clone, 'add', '.');
      await git(clone, 'commit', '--quiet', '-m', 'Accept no workflows');
      await git(clone, 'push', '--quiet', 'origin', 'main');
      mkdirSync(join(clone, '.github/workflows'), { recursive: true });
      writeFileSync(join(clone, '.github/workflows/ci.yml'), 'on: push\n');
      await git(clone, 'add', '.');
      await git(clone, 'commit', '--quiet', '-m', 'Add a workflow');
      const pushed = await tryGit(
        clone,
        'push',
        `http://127.0.0.1:${port}/v1/gh/octo/hello`,
        'HEAD:refs/heads/x',
      );
      expect(pushed.output).toContain('push rejected: the repository takes no changes of workflows');
    },
  );

  it('prints commands that open a pull request', exhaustive, async () => {
    const repositoryPage = await runPrintedCommands(program.output.stdout, makeDesk());
    const page = await readPullRequestPage(repositoryPage);
    expect(page).toContain('Greet from nobody');
    expect(page).not.toContain('Ada');

    expect(readdirSync(join(checkout, '.state'))).toEqual(['lock', 'lock-holder', 'sandbox', 'service']);
    // What it has built is not kept either, if nobody asks for that.
    expect(existsSync(join(checkout, KEPT))).toBe(false);
  });

  it.skipIf(!isInstalled('curl'))(
    'has a page about the API that begins with a command that works as it stands',
    async () => {
      const docs = await (await fetch(`http://127.0.0.1:${port}/docs`)).text();
      const [, shown = ''] = /<h2 id="first">[^]*?<code>([^<]*)<\/code>/.exec(docs) ?? [];
      const command = shown.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
      expect(command).toMatch(/^curl /);
      const answer = execFileSync('bash', ['-c', command], { encoding: 'utf8', stdio: 'pipe' });
      expect(JSON.parse(answer)).toMatchObject({
        karma: 1,
        user_token: expect.stringMatching(/^[A-Z2-7]{16}$/) as string,
      });
    },
  );
});

describe('a start', exhaustive, () => {
  beforeEach(makeCheckout);
  afterEach(removeCheckout);

  it('ends quietly at Ctrl-C, with all its processes, and has kept its state', async () => {
    // The tests' own, of the same sources.
    if (existsSync(join(ROOT, KEPT))) cpSync(join(ROOT, KEPT), join(checkout, KEPT));
    const port = await freePorts();
    const page = `http://127.0.0.1:${port + 1}/octo/hello`;
    for (const run of ['first', 'second']) {
      program = inTerminal('npm start', { cwd: checkout, env: { PORT: String(port), TMPDIR: temporary } });
      await untilPrinted(program, WELCOME_END);
      if (run === 'first') await runPrintedCommands(shownBy(program), makeDesk());
      expect(await readPullRequestPage(page)).toContain('Greet from nobody');

      const family = descendantsOf(program.child.pid as number);
      expect(family.map(commandLineOf).join('\n')).toContain('workerd');
      pressCtrlC(program);
      await program.ended;
      expect(shownBy(program)).toMatch(/\^C$/);
      expect(family.filter(isRunning)).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
    }
  });

  it('ends quietly at Ctrl-C while it still builds', async () => {
    const port = await freePorts();
    const env = { PORT: String(port), TMPDIR: temporary };
    program = inTerminal('npm start --silent', { cwd: checkout, env });
    const pid = program.child.pid as number;
    // It becomes another program when all is built.
    const isBuilding = (): boolean =>
      descendantsOf(pid)
        .map(commandLineOf)
        .some((line) => line.includes('local/runtime/start.ts'));
    await expect.poll(isBuilding).toBe(true);
    const family = descendantsOf(pid);
    pressCtrlC(program);
    await program.ended;
    // The terminal shows the key at once, also if the warning is just being printed.
    expect(shownBy(program)).toContain('^C');
    expect(shownBy(program).replace('^C', '')).toMatch(/^(gitveil: warning: [^\n]+\n)?$/);
    expect(family.filter(isRunning)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

/** An empty folder to work in. */
function makeDesk(): string {
  return mkdtempSync(join(folder, 'desk-'));
}

/** Waits until something accepts connections there. */
async function untilOpen(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', () => resolve(false));
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
    });
    if (isOpen) return;
    await delay(1);
  }
}
