/**
 * `npm run deploy` with the real wrangler, again after everything that can stop it, against a
 * stand-in for Cloudflare's API.
 */
import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exhaustive } from '../support/exhaustive.ts';
import { type Break, Cloudflare } from './support/cloudflare.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');

let folder: string;
let cloud: Cloudflare;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-deploy-again-'));
  cloud = await Cloudflare.start();
});
afterEach(() => {
  expect(cloud.unknown).toEqual([]);
  cloud.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder like a fresh checkout, with nothing that a deployment has left. */
function checkout(name: string): string {
  const place = join(folder, name);
  mkdirSync(place);
  for (const entry of ['wrangler.toml', 'migrations']) symlinkSync(join(ROOT, entry), join(place, entry));
  return place;
}

/**
 * Where wrangler finds no login of this user, and does not ask the registry whether it is the
 * newest.
 */
function homeOf(place: string): string {
  const home = join(place, 'home');
  mkdirSync(join(home, 'tmp/update-check'), { recursive: true });
  const known = JSON.stringify({ latest: '0.0.0', lastUpdate: Date.now() });
  writeFileSync(join(home, 'tmp/update-check/wrangler-latest.json'), known);
  return home;
}

interface Deployment {
  readonly code: number | null;
  readonly output: string;
}

const deploy = (place: string): Promise<Deployment> =>
  run(place, [process.execPath, join(ROOT, 'local/deploy/deploy.ts')]);

async function run(
  place: string,
  [program = '', ...words]: readonly string[],
  stdin = '',
): Promise<Deployment> {
  const home = homeOf(place);
  const child = spawn(program, words, {
    cwd: place,
    env: {
      PATH: `${join(ROOT, 'node_modules/.bin')}:/usr/bin:/bin`,
      HOME: home,
      TMPDIR: join(home, 'tmp'),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'node-compile-cache'),
      CLOUDFLARE_API_BASE_URL: cloud.url,
      CLOUDFLARE_API_TOKEN: 'a-token',
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_SEND_ERROR_REPORTS: 'false',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(stdin);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { code, output };
}

/** One of everything, bound by the version that runs, and each migration applied once. */
function expectWhole(): void {
  const titles = ['gitveil-delayed-keys', 'gitveil-history', 'gitveil-last-known'];
  expect([...cloud.namespaces.values()].toSorted()).toEqual(titles);
  const [[databaseId, database] = [], ...more] = cloud.databases;
  expect([database?.name, more]).toEqual(['gitveil', []]);
  const applied = database?.sqlite.prepare('SELECT name FROM d1_migrations').all();
  const migrations = readdirSync(join(ROOT, 'migrations')).filter((name) => name.endsWith('.sql'));
  expect(applied?.map(({ name }) => name)).toEqual(migrations);
  const { deployed, versions, crons, migrationTag } = cloud.scripts.get('gitveil') ?? {};
  const bindings = versions?.get(deployed ?? '')?.bindings ?? [];
  const of = (type: string) => bindings.filter((binding) => binding.type === type);
  const ids = new Map([...cloud.namespaces].map(([id, title]) => [title, id]));
  expect(of('kv_namespace').map(({ name, namespace_id: id }) => [name, id])).toEqual([
    ['HISTORY', ids.get('gitveil-history')],
    ['LAST_KNOWN', ids.get('gitveil-last-known')],
    ['DELAYED_KEYS', ids.get('gitveil-delayed-keys')],
  ]);
  expect([...of('d1'), ...of('inherit')]).toMatchObject([{ name: 'DB' }]);
  if (of('d1').length > 0) expect(of('d1')).toMatchObject([{ id: databaseId }]);
  expect(of('service')).toMatchObject([{ name: 'SELF', service: 'gitveil' }]);
  expect([crons, migrationTag]).toEqual([['* * * * *'], 'v1']);
}

/** Nothing is logged, no old version can be reached, and objects take the new one at once. */
function expectSettings(): void {
  const { settings, subdomain, versions, deployed } = cloud.scripts.get('gitveil') ?? {};
  const off = { enabled: false };
  expect(settings).toMatchObject({
    logpush: false,
    observability: { ...off, logs: { ...off, invocation_logs: false }, traces: off, issues: off },
    code_update_strategy: { mode: 'immediate' },
  });
  expect(subdomain).toEqual({ enabled: true, previews_enabled: false });
  expect(versions?.get(deployed ?? '')?.limits).toEqual({ cpu_ms: 30_000, subrequests: 10_000 });
}

async function expectDeployed(place: string): Promise<void> {
  const { code, output } = await deploy(place);
  expect(code, output).toBe(0);
  expectWhole();
}

const AGAIN = 'When the cause is gone, run: npm run deploy';

/** A line that breaks at these calls, each time at one that has not been broken yet. */
class BrokenLine {
  readonly broken = new Set<string>();
  isDown = false;
  constructor(how: Break, isMet: (words: string) => boolean, staysDown: boolean) {
    cloud.breaks = (words) => {
      if (this.isDown && staysDown) return 'before';
      if (this.isDown || this.broken.has(words) || !isMet(words)) return null;
      this.broken.add(words);
      this.isDown = true;
      return how;
    };
  }

  deployOnce(place: string): Promise<Deployment> {
    this.isDown = false;
    return deploy(place);
  }

  /**
   * Deploys until no call is left to break. Resolves with the number of deployments that stopped.
   */
  async deployThrough(place: string): Promise<number> {
    let stopped = 0;
    for (;;) {
      const { code, output } = await this.deployOnce(place);
      if (code !== 0) {
        expect(output).toContain(AGAIN);
        stopped++;
      }
      if (!this.isDown) {
        expect(code, output).toBe(0);
        return stopped;
      }
    }
  }
}

/** The second namespace, and the upload that creates the Worker. */
const NAMESPACE_OR_UPLOAD = /gitveil-last-known|^PUT \S+\/gitveil$/;

const isChange = (words: string): boolean => !words.startsWith('GET ');

describe('npm run deploy, with the real wrangler', { timeout: 10 * 60_000 }, () => {
  it('finds what the first deployment has created, also from another machine', exhaustive, async () => {
    const machine = checkout('machine');
    await expectDeployed(machine);
    expect(readdirSync(machine)).not.toContain('wrangler.deploy.json');
    expectSettings();
    await expectDeployed(checkout('another-machine'));
    expectSettings();
  });

  it('replaces no Worker of another program', exhaustive, async () => {
    cloud.addAnothers('gitveil');
    const machine = checkout('machine');
    cloud.breaks = (words) => (words.endsWith('/gitveil/deployments') ? 'before' : null);
    const stopped = await deploy(machine);
    expect(stopped.code).toBe(1);
    expect(stopped.output).toContain(AGAIN);
    cloud.breaks = () => null;
    const { code, output } = await deploy(machine);
    expect(code).toBe(1);
    expect(output).toContain('Choose another `name` in wrangler.toml');
    expect([cloud.databases.size, cloud.scripts.get('gitveil')?.deployed]).toEqual([0, 'v1']);
  });

  it('does what the document tells an operator on the first day, and keeps it', exhaustive, async () => {
    const machine = checkout('machine');
    const commands = (/^```sh\n(.*?)^```/ms.exec(DOCUMENT)?.[1] ?? '').split('\n');
    const first = commands.findIndex((line) => line.startsWith('npm run deploy'));
    expect(commands[first + 1]).toMatch(/^npx wrangler secret put HOSTING_TOKEN/);
    const { output } = await deploy(machine);
    expect(output).toContain('https://gitveil.somebody.workers.dev');
    const put = await run(machine, ['wrangler', 'secret', 'put', 'HOSTING_TOKEN'], 'a-secret');
    expect(put.code, put.output).toBe(0);
    await expectDeployed(machine);
    expect([...(cloud.scripts.get('gitveil')?.secrets ?? [])]).toEqual(['HOSTING_TOKEN']);
  });

  it(
    'goes on after a broken line, a plan that is too small, and a Worker that has only been given secrets',
    exhaustive,
    async () => {
      const machine = checkout('machine');
      cloud.plan = 'free';
      const line = new BrokenLine('after', (words) => NAMESPACE_OR_UPLOAD.test(words), true);
      expect((await line.deployOnce(machine)).output).toContain(AGAIN);
      expect(cloud.namespaces.size).toBe(2);
      const { code, output } = await line.deployOnce(machine);
      expect(code).toBe(1);
      expect(output).toContain('CPU limits are not supported for the Free plan');
      expect(output).toContain(AGAIN);
      cloud.plan = 'paid';
      cloud.addDraft('gitveil');
      expect(await line.deployThrough(machine)).toBe(1);
      expectWhole();
    },
  );
});

describe('npm run deploy, with a token that lacks a right', { ...exhaustive, timeout: 5 * 60_000 }, () => {
  it.each([
    ['D1', /\/d1\//],
    ['Workers KV Storage', /\/storage\/kv\//],
    ['Workers Scripts', /^PUT \/workers\/scripts\//],
  ])('names it, %s, and goes on once the token has it', async (right, forbidden) => {
    const machine = checkout('machine');
    cloud.forbidden = forbidden;
    const { code, output } = await deploy(machine);
    expect(code).toBe(1);
    expect(output).toMatch(/Authentication error|10000/);
    expect(output).toContain(right);
    expect(output).toContain(AGAIN);
    cloud.forbidden = null;
    await expectDeployed(machine);
  });
});

// Exhaustive: some sixty deployments, two minutes of processor time.
describe(
  'npm run deploy, with a line that breaks at every call in turn',
  { ...exhaustive, timeout: 20 * 60_000 },
  () => {
    it.each([
      ['before the account has done it', 'before', () => true, true],
      ['before its answer', 'after', isChange, true],
      ['before its answer, and is back at once', 'after', isChange, false],
    ] as const)('goes on when it breaks %s', async (_what, how, isMet, staysDown) => {
      const machine = checkout('machine');
      const line = new BrokenLine(how, isMet, staysDown);
      expect(await line.deployThrough(machine)).toBeGreaterThan(0);
      expect(line.broken.size).toBeGreaterThan(10);
      expectWhole();
    });
  },
);
