/**
 * `npm run deploy`: what it asks of wrangler, whose place a program takes that writes down how it
 * was called.
 */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exhaustive } from '../support/exhaustive.ts';
import { readConfig } from '../../local/deploy/build.ts';

const ROOT = join(import.meta.dirname, '../..');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-deploy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Answer {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly status?: number;
  /** Answers so the first time only. */
  readonly isOnce?: true;
}

interface Deployment {
  readonly calls: readonly string[];
  /** The bindings that were uploaded. */
  readonly configs: readonly Record<'services' | 'd1_databases' | 'kv_namespaces', object[]>[];
  readonly code: number | null;
  readonly stderr: string;
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);

/**
 * Runs the program.
 * @param answers what wrangler says and exits with, by the beginning of its arguments.
 */
async function deploy(answers: Readonly<Record<string, Answer>>, ...args: string[]): Promise<Deployment> {
  return deployFrom(ROOT, answers, ...args);
}

/** @param checkout whose code is deployed. */
async function deployFrom(
  checkout: string,
  answers: Readonly<Record<string, Answer>>,
  ...args: string[]
): Promise<Deployment> {
  const calls = join(folder, 'calls');
  const configs = join(folder, 'configs');
  writeFileSync(calls, '');
  writeFileSync(configs, '');
  const fake = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require('node:fs');
const words = process.argv.slice(2).join(' ');
const [start, answer = {}] = Object.entries(${JSON.stringify(answers)}).find(([start]) => (words + ' ').startsWith(start + ' ')) ?? [];
const isFirst = !readFileSync(${JSON.stringify(calls)}, 'utf8').split('\\n').some((line) => line.startsWith(start + ' '));
appendFileSync(${JSON.stringify(calls)}, words + '\\n');
const [, config] = /^deploy .*--config=(\\S+)/.exec(words) ?? [];
if (config) appendFileSync(${JSON.stringify(configs)}, readFileSync(config, 'utf8') + '\\n');
if (answer.isOnce && !isFirst) process.exit(0);
process.stdout.write(answer.stdout ?? '');
process.stderr.write(answer.stderr ?? '');
process.exit(answer.status ?? 0);
`;
  writeFileSync(join(folder, 'wrangler'), fake);
  chmodSync(join(folder, 'wrangler'), 0o755);
  const program = join(checkout, 'local/deploy/deploy.ts');
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const child = spawn(process.execPath, [program, ...args], {
    // Where it writes a file: other tests copy the checkout.
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const uploaded = linesOf(configs).map((line) => JSON.parse(line) as Deployment['configs'][number]);
  return { calls: linesOf(calls), configs: uploaded, code, stderr };
}

const UPLOAD =
  /^deploy \S+worker\.js --config=wrangler\.deploy\.json --no-bundle --minify=false --var COMMIT_HASH:[0-9a-f]{40}(-dirty)? --var BUNDLE_HASH:[0-9a-f]{64}$/;

const NAMESPACES = JSON.stringify(
  ['history', 'last-known', 'delayed-keys'].map((name) => ({
    id: `id-of-${name}`,
    title: `gitveil-${name}`,
  })),
);
const FOUND = { 'd1 list': { stdout: '[{"name":"gitveil"}]' }, 'kv namespace list': { stdout: NAMESPACES } };

const BOUND = [
  { binding: 'HISTORY', id: 'id-of-history' },
  { binding: 'LAST_KNOWN', id: 'id-of-last-known' },
  { binding: 'DELAYED_KEYS', id: 'id-of-delayed-keys' },
];

const MIGRATE = 'd1 migrations apply DB --remote --config=wrangler.deploy.json';

it(
  'npm run deploy, run again after a refused upload, finds what the first one has created',
  exhaustive,
  async () => {
    const refused = { deploy: { stderr: 'no [code: 10021]', status: 1 } };
    const first = await deploy({ ...FOUND, ...refused });
    expect(first.code).toBe(1);
    expect(first.stderr).toContain('run: npm run deploy');
    const { calls, configs, code } = await deploy(FOUND);
    expect(code).toBe(0);
    expect(calls.filter((words) => words.includes(' create '))).toEqual([]);
    expect(configs[0]?.kv_namespaces).toEqual(BOUND);
  },
);

describe('npm run deploy', exhaustive, () => {
  it('migrates a database that is there, and hands on a file of secrets', async () => {
    const { calls, configs, code } = await deploy(FOUND, '--secrets-file', 'my-secrets');
    expect(code).toBe(0);
    expect(calls).toEqual([
      'd1 list --json',
      MIGRATE,
      'kv namespace list',
      expect.stringMatching(/^deploy .* --secrets-file my-secrets$/),
    ]);
    expect(configs[0]?.kv_namespaces).toEqual(BOUND);
  });

  it('uploads nothing when the database could not be migrated', async () => {
    const { calls, code } = await deploy({ ...FOUND, 'd1 migrations': { status: 7 } });
    expect(calls.at(-1)).toBe(MIGRATE);
    expect(code).toBe(7);
  });

  it('creates the database on a fresh account, and uploads the Worker without a binding to itself once', async () => {
    const unknown = {
      stderr: "Could not resolve service binding 'SELF'. Target script 'gitveil' not found. [code: 10143]\n",
      status: 1,
      isOnce: true,
    } as const;
    const { calls, configs, code, stderr } = await deploy({
      ...FOUND,
      'd1 list': { stdout: '[{"name":"another"}]' },
      'deployments list': { stderr: 'This Worker does not exist on your account. [code: 10007]', status: 1 },
      deploy: unknown,
    });
    expect(calls).toEqual([
      'd1 list --json',
      'deployments list --name=gitveil --json',
      'd1 create gitveil --location=enam --update-config=false',
      MIGRATE,
      'kv namespace list',
      ...Array.from({ length: 3 }, () => expect.stringMatching(UPLOAD)),
    ]);
    const self = [{ binding: 'SELF', service: 'gitveil' }];
    expect(configs.map(({ services }) => services)).toEqual([self, [], self]);
    expect(configs[2]?.d1_databases).toMatchObject([{ binding: 'DB', database_name: 'gitveil' }]);
    expect([code, stderr]).toEqual([0, '']);
    expect(existsSync(join(folder, 'wrangler.deploy.json'))).toBe(false);
  });

  it.each([
    ['d1 list', ''],
    ['d1 list', '\n\n⛅ wrangler is out of date\n[]'],
    ['kv namespace list', '{"result":[]}'],
  ])('stops where wrangler prints no list: %s, %j', async (asked, stdout) => {
    const { calls, code, stderr } = await deploy({ ...FOUND, [asked]: { stdout } });
    expect(calls.at(-1)).toMatch(new RegExp(`^${asked}`));
    expect(code).toBe(1);
    expect(stderr).toContain(stdout.trim());
    expect(stderr).toContain(`wrangler ${asked}`);
    expect(stderr).not.toContain('    at ');
  });

  it.each([
    ['', 0, 'has printed no list'],
    ['warning: ', 0, 'has printed no list'],
    ['fetch failed', 1, 'fetch failed'],
    ['Authentication error [code: 10000]', 1, 'Authentication error'],
  ])(
    'creates nothing when it cannot tell whose the Worker of that name is: %j, %i',
    async (output, status, said) => {
      const { calls, code, stderr } = await deploy({
        'd1 list': { stdout: '[]' },
        'deployments list': { [status === 0 ? 'stdout' : 'stderr']: output, status },
      });
      expect(calls).toEqual(['d1 list --json', 'deployments list --name=gitveil --json']);
      expect(code).toBe(1);
      expect(stderr).toContain(said);
      expect(stderr).toContain('run: npm run deploy');
      expect(stderr).not.toContain('    at ');
    },
  );

  it.each([
    ['wrangler.toml', 'Invalid TOML'],
    ['src/worker.ts', 'Unexpected "<<"'],
  ])('asks the account nothing while %s has a conflict', async (file, said) => {
    const checkout = join(folder, 'checkout');
    for (const entry of ['local', 'src', 'wrangler.toml', 'package.json'])
      cpSync(join(ROOT, entry), join(checkout, entry), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    appendFileSync(join(checkout, file), '<<<<<<< HEAD\n');
    const { calls, code, stderr } = await deployFrom(checkout, FOUND);
    expect([calls, code]).toEqual([[], 1]);
    expect(stderr).toContain(said);
    expect(stderr).toContain('Nothing was changed.');
    expect(stderr).not.toContain('    at ');
  });

  it('says what to do when nobody is logged in', async () => {
    const { calls, code, stderr } = await deploy({ 'd1 list': { status: 1 } });
    expect(calls).toEqual(['d1 list --json']);
    expect(code).toBe(1);
    expect(stderr).toContain('npx wrangler login');
  });

  it('touches no account in a dry run, shows any other failure of an upload, and fails with it', async () => {
    const failing = { deploy: { stderr: 'no [code: 10021]', status: 3 } };
    const { calls, code, stderr } = await deploy(failing, '--dry-run');
    expect(calls).toEqual([expect.stringMatching(/^deploy .* --dry-run$/)]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^no \[code: 10021\]\n.*run: npm run deploy\n$/s);
  });
});

it('keeps no logs: each entry would carry the URL of its request', async () => {
  const off = { enabled: false };
  expect(await readConfig()).toMatchObject({
    logpush: false,
    observability: { ...off, logs: { ...off, invocation_logs: false }, traces: off, issues: off },
  });
});

it('the name of the Worker is written where a deployment reads it, and beside it only for other commands', () => {
  const named = ['wrangler.toml', 'local/operator/export-secret/wrangler.toml'].flatMap(
    (file) => readFileSync(join(ROOT, file), 'utf8').match(/^\w+ = "gitveil"$/gm) ?? [],
  );
  expect(named).toEqual(['name = "gitveil"', 'service = "gitveil"', 'script_name = "gitveil"']);
});
