/**
 * Runs what deploy/ and docs/deploy.md give operators of one machine: the unit of systemd, the
 * variables, the backup and its restore.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { isInstalled } from '../support/is-installed.ts';
import { git, tryGit } from '../sandbox/support/git.ts';
import { type Program, ROOT, freePorts, nodeStart, untilPrinted } from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const DOCUMENT = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
/** Exposure by `systemd-analyze security`, in tenths: 0 is none, 100 all. */
const MOST_EXPOSURE = 20;

/** The one block of that language that has these words. */
function block(language: string, words: string): string {
  const blocks = Array.from(DOCUMENT.matchAll(/^```(\w+)\n(.*?)^```/gms), ([, kind, text]) => ({
    kind,
    text,
  }));
  const [found, ...more] = blocks.filter(({ kind, text }) => kind === language && text?.includes(words));
  expect(more).toEqual([]);
  return found?.text ?? '';
}

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

const fileOf = (name: string): string => readFileSync(join(ROOT, 'deploy', name), 'utf8');

const analyze = (...args: string[]): string =>
  execFileSync('bash', ['-c', 'systemd-analyze "$@" 2>&1 || true', '-', ...args], { encoding: 'utf8' });

describe.skipIf(!isInstalled('systemd-analyze'))('the unit', exhaustive, () => {
  it('is what systemd understands, and exposes little', () => {
    const unit = join(folder, 'gitveil.service');
    // A path with spaces would have to be quoted there.
    const checkout = join(folder, 'checkout');
    symlinkSync(ROOT, checkout);
    const text = fileOf('gitveil.service')
      .replaceAll('/srv/gitveil', checkout)
      .replace('User=gitveil', `User=${userInfo().username}`);
    writeFileSync(unit, text);
    // Other lines are about the machine on which this runs.
    const said = analyze('verify', '--man=no', unit).split('\n');
    expect(said.filter((line) => line.includes('gitveil.service'))).toEqual([]);
    // A user other than root belongs to it.
    writeFileSync(unit, text.replace(/^User=.*$/m, 'User=nobody'));
    const security = analyze('security', '--offline=true', '--no-pager', unit);
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(security) ?? [];
    expect(Number(level), security).toBeLessThanOrEqual(MOST_EXPOSURE / 10);
  });
});

it('a crowd of half-sent requests is bounded by the proxy and by the unit, as the document says', () => {
  const [, zone, most] = /^ +limit_conn (\w+) (\d+);$/m.exec(fileOf('nginx.conf')) ?? [];
  expect(fileOf('nginx.conf')).toContain(`limit_conn_zone $binary_remote_addr zone=${zone}:`);
  expect(DOCUMENT).toContain(`nginx.conf allows ${most} connections of one address`);
  const [, gigabytes] = /^MemoryMax=(\d+)G$/m.exec(fileOf('gitveil.service')) ?? [];
  expect(DOCUMENT).toMatch(new RegExp(`ends the service beyond ${gigabytes} GB\\s\\(\`MemoryMax\`\\)`));
});

describe('deploy/gitveil.env', () => {
  const lines = fileOf('gitveil.env').match(/^[A-Z].*$/gm) ?? [];
  const entries = lines.map((line) => line.split(/=(.*)/).slice(0, 2) as [name: string, value: string]);
  const own: Readonly<Record<string, string>> = {
    OPERATOR_CONTACT: 'operator@example.org',
    SERVICE_URL: 'https://git.example.org',
  };
  const filled = entries.map(
    ([name, value]) => [name, value.replace(/^<.*>$/, own[name] ?? 'a'.repeat(64))] as const,
  );

  it('is valid when it is filled in, and leaves nothing to warn of', () => {
    expect(parseConfig(Object.fromEntries(filled))).toMatchObject({ kind: 'valid', warnings: [] });
  });

  it.each(entries.filter(([, value]) => value.startsWith('<')))(
    'is refused if %s is still %s',
    (name, value) => {
      const config = parseConfig({ ...Object.fromEntries(filled), [name]: value });
      expect(config).toMatchObject({
        kind: 'invalid',
        problems: [expect.objectContaining({ variable: name })],
      });
    },
  );
});

/**
 * The commands, with the folders of this test, and without what only root on a machine with systemd
 * can do.
 */
function run(commands: string, state: string, backup: string): void {
  const text = commands
    .replace(/^state=.*$/m, '')
    .replace(/^\/srv\/gitveil\/(\S+) .*$/m, `'${ROOT}/$1' "$state" "$backup"`)
    .replaceAll(/^systemctl .*$/gm, '')
    .replaceAll(/ && chown .*$/gm, '');
  const script = `set -e; state='${state}'; backup='${backup}'\n${text}`;
  const output = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(output).toBe('');
}

const hashIn = (output: string): string => /PR hash: +(\w+)/.exec(output)?.[1] ?? '';

describe.skipIf(!isInstalled('sqlite3'))('the backup', exhaustive, () => {
  it('is made while the service runs, opens no delayed push, and can be restored', async () => {
    const port = await freePorts();
    const service = `http://127.0.0.1:${port}`;
    const stateDir = join(folder, 'state');
    const start = async () => {
      program = nodeStart({ env: { PORT: String(port), STATE_DIR: stateDir, PR_UPDATE_POLICY: 'key' } });
      await untilPrinted(program, 'Press Ctrl-C to stop.');
      return program;
    };
    const page = async (path: string) => {
      const answer = await fetch(`${service}/v1/${path}`, { headers: { Accept: 'text/plain' } });
      return `${answer.status} ${await answer.text()}`;
    };
    let running = await start();
    const clone = join(folder, 'hello');
    await git(folder, 'clone', '--quiet', `${service}/v1/gh/octo/hello`, clone);
    const push = async (branch: string, ...options: string[]) => {
      await git(clone, 'switch', '--quiet', '-C', branch, 'origin/main');
      await git(clone, 'commit', '--quiet', '--allow-empty', '-m', `Change for ${branch}`);
      const pushed = await tryGit(clone, 'push', '--force', ...options, 'origin', branch);
      expect(pushed.code, pushed.output).toBe(0);
      return pushed.output;
    };
    const opened = await push('open');
    const key = /pr-key=(\S+)/.exec(opened)?.[1] ?? '';
    const delayed = /delayed\/([0-9a-f]{32})/.exec(await push('later', '-o', 'delay=1h'))?.[1] ?? '';
    expect(await page(`delayed/${delayed}`)).toMatch(/^200 /);
    await expect.poll(() => page(`pr/${hashIn(opened)}`)).toMatch(/^200 /);
    expect(readdirSync(join(stateDir, 'service/kv/DELAYED_KEYS/blobs'))).toHaveLength(1);

    const backup = join(folder, 'backup');
    mkdirSync(backup);
    run(block('sh', 'backup.sh'), join(stateDir, 'service'), backup);
    const files = readdirSync(backup, { recursive: true }).map(String).toSorted();
    expect(
      files.filter((file) => /kv|DELAYED|Delayed|Spool|Pending|Client|Account|Guard|-wal/.test(file)),
    ).toEqual([]);
    const copied = files
      .filter((file) => file.endsWith('.sqlite'))
      .map((file) => readFileSync(join(backup, file), 'latin1'))
      .join('\n');
    expect(copied).toContain(hashIn(opened));
    expect(copied).not.toContain(delayed);

    running.child.kill('SIGTERM');
    await running.ended;
    run(block('sh', 'mv "$state"'), join(stateDir, 'service'), backup);
    running = await start();
    expect(await page(`pr/${hashIn(opened)}`)).toMatch(/^200 octo\/hello #2\n/);
    expect(await page(`delayed/${delayed}`)).toMatch(/^404 /);
    const updated = await push('open', '-o', `pr-hash=${hashIn(opened)}`, '-o', `pr-key=${key}`);
    expect(updated).toContain('/octo/hello/pull/2');
    expect(await push('later')).toContain('/octo/hello/pull/3');
    expect(running.output.stderr).toBe('');
  });

  it('or what can be read of a damaged database, is enough to start again', async () => {
    const stateDir = join(folder, 'state');
    const start = async () => {
      program = nodeStart({ env: { PORT: String(await freePorts()), STATE_DIR: stateDir } });
      return program;
    };
    const first = await start();
    await untilPrinted(first, 'Press Ctrl-C to stop.');
    first.child.kill('SIGTERM');
    await first.ended;
    const databases = join(stateDir, 'service/d1/miniflare-D1DatabaseObject');
    const name = readdirSync(databases).find((each) => /^[0-9a-f]{64}\.sqlite$/.test(each));
    const file = join(databases, String(name));
    const ask = (statement: string) => execFileSync('sqlite3', [file, statement], { encoding: 'utf8' });
    ask("INSERT INTO karma VALUES ('0badf00d', 5); PRAGMA wal_checkpoint(TRUNCATE)");
    const page = Number(ask("SELECT rootpage FROM sqlite_schema WHERE name = 'pseudonyms'"));
    writeFileSync(file, readFileSync(file).fill('Z', (page - 1) * 4096, page * 4096));
    expect(await (await start()).ended).toBe(1);

    const commands = (block('sh', 'mv "$file"') + block('sh', '.dump'))
      .replace(/^file=.*$/m, '')
      .replaceAll(/^(?:systemctl|chown) .*$/gm, '');
    execFileSync('bash', ['-c', `set -e; cd '${folder}'; file='${file}'\n${commands}`]);
    const last = await start();
    await untilPrinted(last, 'Press Ctrl-C to stop.');
    expect(ask('SELECT karma FROM karma')).toBe('5\n');
    expect(last.output.stderr).toBe('');
  });
});
