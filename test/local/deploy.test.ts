/** `npm run deploy`: what it asks of wrangler, whose place a program takes that writes down how it was called. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { WorkerBuild } from '../../local/build.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-deploy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program. @param answers what wrangler says and exits with, by the beginning of its arguments. */
async function deploy(
  answers: Readonly<Record<string, { stdout?: string; status?: number }>>,
  ...args: string[]
): Promise<{ calls: string[]; code: number | null; stderr: string }> {
  const calls = join(folder, 'calls');
  writeFileSync(calls, '');
  const fake = `#!${process.execPath}
const { appendFileSync } = require('node:fs');
const words = process.argv.slice(2).join(' ');
appendFileSync(${JSON.stringify(calls)}, words + '\\n');
const [, answer = {}] = Object.entries(${JSON.stringify(answers)}).find(([start]) => words.startsWith(start)) ?? [];
process.stdout.write(answer.stdout ?? '');
process.exit(answer.status ?? 0);
`;
  writeFileSync(join(folder, 'wrangler'), fake);
  chmodSync(join(folder, 'wrangler'), 0o755);
  const program = join(import.meta.dirname, '../../local/deploy.ts');
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { calls: readFileSync(calls, 'utf8').split('\n').filter(Boolean), code, stderr };
}

const UPLOAD =
  /^deploy \S+worker\.js --config=wrangler\.toml --no-bundle --minify=false --var COMMIT_HASH:[0-9a-f]{40}(-dirty)? --var BUNDLE_HASH:[0-9a-f]{64}$/;

describe('npm run deploy', () => {
  it('creates the database on a fresh account, and migrates it before the upload', async () => {
    const { calls, code } = await deploy({ 'd1 list': { stdout: '[{"name":"another"}]' } });
    expect(calls).toEqual([
      'd1 list --json',
      'd1 create gitveil --location=enam --update-config=false',
      'd1 migrations apply gitveil --remote',
      expect.stringMatching(UPLOAD),
    ]);
    expect(code).toBe(0);
  });

  it('migrates a database that is there, and hands on a file of secrets', async () => {
    const found = { 'd1 list': { stdout: '[{"name":"gitveil"}]' } };
    const { calls } = await deploy(found, '--secrets-file', 'my-secrets');
    expect(calls).toEqual([
      'd1 list --json',
      'd1 migrations apply gitveil --remote',
      expect.stringMatching(/^deploy .* --secrets-file my-secrets$/),
    ]);
  });

  it('uploads nothing when the database could not be migrated', async () => {
    const answers = { 'd1 list': { stdout: '[{"name":"gitveil"}]' }, 'd1 migrations': { status: 7 } };
    const { calls, code } = await deploy(answers);
    expect(calls.at(-1)).toBe('d1 migrations apply gitveil --remote');
    expect(code).toBe(7);
  });

  it('says what to do when nobody is logged in', async () => {
    const { calls, code, stderr } = await deploy({ 'd1 list': { status: 1 } });
    expect(calls).toEqual(['d1 list --json']);
    expect(code).toBe(1);
    expect(stderr).toContain('npx wrangler login');
  });

  it('touches no account in a dry run', async () => {
    const { calls } = await deploy({}, '--dry-run');
    expect(calls).toEqual([expect.stringMatching(/^deploy .* --dry-run$/)]);
  });
});

it('keeps no logs: each entry would carry the URL of its request', () => {
  const file = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');
  expect(file).toMatch(/^\[observability\]\nenabled = false$/m);
  expect(file).toMatch(/^\[observability\.logs\]\nenabled = false\ninvocation_logs = false$/m);
});

it('the database is called as wrangler.toml says', () => {
  const file = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');
  expect(file).toContain('database_name = "gitveil"');
});

it('the bundle stays under 400 KB compressed', () => {
  const { script } = JSON.parse(inject('workerBuild') ?? '{"script":""}') as Pick<WorkerBuild, 'script'>;
  const bytes = gzipSync(script).length;
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(400_000);
});
