/**
 * Runs what `npm start` runs: bad configuration, a port in use, and what it keeps.
 * first-start.test.ts includes npm.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Program,
  commandLineOf,
  descendantsOf,
  freePorts,
  isRunning,
  nodeStart,
  untilPrinted,
} from './programs.ts';
import { tryPort } from '../../local/runtime/ports.ts';
import { exhaustive } from '../support/exhaustive.ts';

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
  const program = nodeStart({ env: { STATE_DIR: stateDir, ...env } });
  programs.push(program);
  return program;
}

const workerdOf = ({ child }: Program): number =>
  descendantsOf(child.pid as number).find((pid) => commandLineOf(pid).includes('workerd serve')) as number;

it(
  'npm start warns of a disk that has no room for all that pushes may take, and starts',
  exhaustive,
  async () => {
    const port = String(await freePorts());
    const program = start({ PORT: port, HOSTING_TOKEN: 'token', SPOOL_MB: '1000000', DELAYED_MB: '1000000' });
    await untilPrinted(program, `GB free in ${stateDir}. Pushes may take SPOOL_MB and DELAYED_MB, `);
    await untilPrinted(program, `:${port}`);
  },
);

const variables = async () => ({ PORT: String(await freePorts()), HOSTING_TOKEN: 'token' });

it.each([
  ['its header', 0],
  ['a table', 3 * 4096],
])(
  'npm start names the file of a database with damage in %s, and the way back',
  exhaustive,
  async (_, offset) => {
    const first = start(await variables());
    await untilPrinted(first, 'gitveil is running');
    first.child.kill('SIGTERM');
    await first.ended;
    const folder = join(stateDir, 'service/d1/miniflare-D1DatabaseObject');
    const name = (await readdir(folder)).find((each) => /^[0-9a-f]{64}\.sqlite$/.test(each));
    const file = join(folder, String(name));
    const database = new DatabaseSync(file);
    database.exec("INSERT INTO karma VALUES ('0badf00d', 5); PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill('Z', offset, offset + 4096));
    const again = start(await variables());
    expect(await again.ended).toBe(1);
    expect(again.output.stdout).toContain(`the database cannot be used, and may be damaged (${file}): `);
    expect(again.output.stdout).toContain('docs/deploy.md#a-damaged-database');
  },
);

/** Fails unless every line is a line of a JSON log, and on standard output. */
function jsonLines({ output }: Program): object[] {
  expect(output.stderr).toBe('');
  const lines = output.stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const parsed = JSON.parse(line) as object;
    expect(parsed, line).toMatchObject({ privacy: 'anonymized', message: expect.any(String) as string });
    expect(Object.keys(parsed).slice(0, 4), line).toEqual(['timestamp', 'level', 'message', 'privacy']);
    return parsed;
  });
}

describe('npm start with LOG_FORMAT=json', exhaustive, () => {
  const LOG_FORMAT = 'json';

  it('starts no code host when there is a token, and prints only JSON, also the last words of a workerd that crashes', async () => {
    const port = await freePorts();
    const program = start({
      LOG_FORMAT,
      PORT: String(port),
      HOSTING_TOKEN: 'token',
      HOSTING_API_URL: 'http://localhost:1',
      PANIC_PASSWORD: 'hunter2',
    });
    await untilPrinted(program, `"message":"gitveil is running at http://127.0.0.1:${port}"`);
    await expect(fetch(`http://127.0.0.1:${port + 1}/`)).rejects.toThrow('fetch failed');
    process.kill(workerdOf(program), 'SIGSEGV');
    expect(await program.ended).toBe(1);
    const lines = jsonLines(program);
    for (const [level, message] of [
      ['warn', /^CLIENT_IP_HEADER is not set: behind a proxy /],
      ['warn', /^PANIC_PASSWORD has fewer than 16 characters: /],
      ['info', /^gitveil is running at /],
      ['error', /^workerd has ended unexpectedly: /],
    ] as const) {
      expect(lines).toContainEqual(
        expect.objectContaining({ level, message: expect.stringMatching(message) as string }),
      );
    }
    expect(program.output.stdout).not.toContain('hunter2');
  });

  it.each([
    [{ READ_TIMEOUT: '30sec', HSTING_TOKEN: 'x' }, 'READ_TIMEOUT is "30sec"'],
    [{ STATE_DIR: '/proc/none' }, '/proc/none'],
  ])('prints only JSON when it cannot start: %j', async (env, words) => {
    const program = start({ LOG_FORMAT, PORT: String(await freePorts()), ...env });
    expect(await program.ended).toBe(1);
    expect(jsonLines(program)).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining(words) as string }),
    );
  });
});

describe('npm start with a misspelt variable', exhaustive, () => {
  it('exits with 1 and names both, also beside a bad one', async () => {
    const program = start({ HSTING_TOKEN: 'secret', PANIC_PASWORD: 'secret', PORT: '70000' });
    expect(await program.ended).toBe(1);
    const lines = program.output.stdout.split('\n');
    expect(lines).toContain(
      'gitveil: HSTING_TOKEN is set, but there is no such variable: did you mean HOSTING_TOKEN? Rename it, or unset it',
    );
    expect(program.output.stdout).toContain('PANIC_PASWORD is set, but there is no such variable: did you');
    expect(program.output.stdout).toContain('PORT is "70000"');
    expect(program.output.stdout).not.toContain('secret');
    expect(lines.slice(-2)).toEqual(['gitveil: docs/configuration.md explains every variable', '']);
    expect(program.output.stderr).toBe('');
  });
});

describe('npm start where others reach the service, without SERVICE_URL', exhaustive, () => {
  it.each([
    [{ HOST: '0.0.0.0' }, 'HOST is "0.0.0.0", so other machines can reach the service'],
    [
      { CLIENT_IP_HEADER: 'X-Real-IP' },
      'CLIENT_IP_HEADER is set, so others reach the service through a proxy',
    ],
  ])('exits with 1 and says what to set: %j', async (env, reason) => {
    const program = start(env);
    expect(await program.ended).toBe(1);
    expect(program.output.stdout).toContain(
      `gitveil: ${reason}, but SERVICE_URL is not set: set it to the address that they use, such as https://`,
    );
  });
});

describe('npm start with several things to say', exhaustive, () => {
  it('says warnings also if it cannot start', async () => {
    const program = start({ HSTING_TOKEN: 'secret', DB_URL: 'https://db.example.org' });
    expect(await program.ended).toBe(1);
    expect(program.output.stdout).toMatch(
      /^gitveil: warning: DB_URL is set, but DB_KEY is not: statistics .*\ngitveil: HSTING_TOKEN is set, /,
    );
    expect(program.output.stdout.match(/DB_KEY/g)).toHaveLength(1);
  });

  it.each([
    { HOST: '0.0.0.0', SERVICE_URL: 'http://localhost:8080' },
    { SERVICE_URL: 'https://veil.example' },
  ])('warns of the embedded code host where others may come: %j', async (env) => {
    const port = await freePorts();
    const server = createServer().listen(port, 'HOST' in env ? env.HOST : '127.0.0.1');
    try {
      const program = start({ PORT: String(port), ...env });
      await program.ended;
      expect(program.output.stdout).toContain(
        'gitveil: warning: the code host is embedded, because HOSTING_TOKEN is not set: ',
      );
    } finally {
      server.close();
    }
  });
});

describe('npm start on a port in use', exhaustive, () => {
  it('exits with 1 and says what to do, and before that where statistics are kept', async () => {
    const port = await freePorts();
    const server = createServer().listen(port, '127.0.0.1');
    try {
      const program = start({ PORT: String(port) });
      expect(await program.ended).toBe(1);
      expect(program.output.stdout).toMatch(
        /^gitveil: warning: DB_URL and DB_KEY are not set: statistics and karma are kept in /,
      );
      expect(program.output.stdout.match(/DB_KEY/g)).toHaveLength(1);
      // Nobody else can reach it.
      expect(program.output.stdout).not.toContain('the code host is embedded');
      const said =
        /gitveil: PORT is "(\d+)": that port is in use; stop what listens there, or run: PORT=(\d+) npm start\n/;
      const [, used, other] = said.exec(program.output.stdout) ?? [];
      expect(used).toBe(String(port));
      await expect(tryPort('127.0.0.1', Number(other))).resolves.toBeUndefined();
    } finally {
      server.close();
    }
  });
});

describe('npm start on an address of another machine', exhaustive, () => {
  it('exits with 1 and says what to do', async () => {
    const program = start({
      PORT: String(await freePorts()),
      HOST: '192.0.2.1',
      SERVICE_URL: 'http://localhost:8080',
    });
    expect(await program.ended).toBe(1);
    expect(program.output.stdout).toMatch(
      /^gitveil: HOST is "192\.0\.2\.1": this machine cannot listen there; [^\n]+\n$/m,
    );
  });
});

describe('npm start', exhaustive, () => {
  it('keeps its state, does not seed twice, and ends with 1 and a word about it when workerd dies', async () => {
    const port = await freePorts();
    const branch = `http://127.0.0.1:${port + 1}/api/v3/repos/octo/hello/branches/main`;
    const startAndRead = async () => {
      const program = start({ PORT: String(port) });
      await untilPrinted(program, 'Press Ctrl-C to stop.');
      return { program, tip: await (await fetch(branch)).json<unknown>() };
    };
    const first = await startAndRead();
    first.program.child.kill('SIGTERM');
    expect(await first.program.ended).toBe(0);
    const second = await startAndRead();
    expect(first.tip).toHaveProperty('commit.sha');
    expect(second.tip).toEqual(first.tip);

    const family = descendantsOf(second.program.child.pid as number);
    process.kill(workerdOf(second.program), 'SIGKILL');
    expect(await second.program.ended).toBe(1);
    expect(second.program.output.stdout).toMatch(/\ngitveil: workerd has ended unexpectedly: SIGKILL\n$/);
    expect(second.program.output.stderr).toBe('');
    expect(family.filter(isRunning)).toEqual([]);
  });
});
