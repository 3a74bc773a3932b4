/**
 * Compares what esbuild makes here with what wrangler deploys: the bundle, the settings and the
 * statements of the database.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { bundleHash, readConfig } from '../../local/deploy/build.ts';
import { bundleWorker } from '../../local/deploy/esbuild.ts';
import { statementsOf } from '../../local/deploy/migrations.ts';
import { startService } from '../../local/runtime/service.ts';
import { builtWorker } from '../e2e/support/built-worker.ts';
import { exhaustive } from '../support/exhaustive.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIGRATIONS = join(ROOT, 'migrations');

/** wrangler asks nobody for a newer one. */
const QUIET = { ...process.env, WRANGLER_HIDE_BANNER: 'true', WRANGLER_SEND_METRICS: 'false' };

const withoutComments = (statement: string): string => statement.replaceAll(/^--.*$/gm, '').trim();

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-bundle-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('bundles the same bytes as wrangler', exhaustive, async () => {
  // Not minified: then the names are those of the source, and a difference can be read.
  const program = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
  const args = ['deploy', '--dry-run', '--minify=false', '--outdir', folder];
  const env = { ...QUIET, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [program, ...args], { cwd: ROOT, env });
  const [wranglers = ''] = readFileSync(join(folder, 'worker.js'), 'utf8').split('//# sourceMappingURL=');
  const ours = await bundleWorker({ ...(await readConfig()), minify: false });
  // wrangler leaves texts in files beside the bundle; `npm run deploy` uploads ours, which holds
  // them.
  const imported = takeOut(
    wranglers,
    ({ name }) => readFileSync(join(folder, name), 'utf8'),
    /^import (\w+) from "\.\/([0-9a-f]{40}-\w+\.(?:css|html|txt))";\n/gm,
  );
  const held = takeOut(
    ours,
    ({ value }) => runInNewContext(value) as string,
    /^\/\/ src\/[^\n]+\.(?:css|html|txt)\nvar ((\w+)_default\d*) = (["'][^\n]*["']|`(?:[^`\\]|\\.)*`);\n\n/gms,
  );
  expect(held.texts).toEqual(imported.texts);
  expect(held.texts).toHaveLength(17);
  // Not `toBe`, which would print two megabytes.
  expect(held.code === imported.code, 'the bundles are the same').toBe(true);
});

it('is small enough to start fast: 480 KiB compressed', () => {
  const bytes = gzipSync(builtWorker().script).byteLength;
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(480 * 1024);
});

interface Imported {
  readonly name: string;
  readonly value: string;
}

/**
 * The bundle without its texts, with numbers in place of their names; and without what names the
 * modules around them.
 */
function takeOut(bundle: string, contentOf: (imported: Imported) => string, declaration: RegExp) {
  const found = Array.from(bundle.matchAll(declaration), ([, identifier = '', name = '', value = '']) => ({
    identifier,
    content: contentOf({ name, value }),
  })).toSorted((a, b) => (a.content < b.content ? -1 : 1));
  const code = found.reduce(
    (rest, { identifier }, index) => rest.replaceAll(new RegExp(`\\b${identifier}\\b`, 'g'), String(index)),
    bundle.replaceAll(declaration, '').replaceAll(/^(?:\/\/ src\/.*)?\n/gm, ''),
  );
  return { texts: found.map(({ content }) => content), code };
}

it('has the same hash in another folder, when it is deployed, and as a running service reports it', async () => {
  for (const name of ['src', 'local', 'sandbox', 'wrangler.toml', 'package.json']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const hash = bundleHash(builtWorker().script);
  const program = [join(folder, 'local/deploy/bundle.ts'), '--hash'];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: folder });
  expect(stdout).toBe(`${hash}\n`);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  const deploy = [join(folder, 'local/deploy/deploy.ts'), '--dry-run', '--outdir', folder];
  await promisify(execFile)(process.execPath, deploy, { cwd: folder, env: QUIET });
  expect(bundleHash(readFileSync(join(folder, 'worker.js'), 'utf8'))).toBe(hash);
  const service = await startService({ build: builtWorker(), env: {}, stateDir: null });
  try {
    const { headers } = await fetch(`${service.url}/health`);
    expect(headers.get('X-Bundle')).toBe(hash);
  } finally {
    await service.dispose();
  }
});

it('reads the same statements of the database as wrangler', () => {
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'));
  for (const file of files) {
    const sql = readFileSync(join(MIGRATIONS, file), 'utf8');
    expect(statementsOf(sql).map((statement) => statement.replace(/;$/, ''))).toEqual(
      splitSqlQuery(sql).map((statement) => withoutComments(statement).replace(/;$/, '')),
    );
  }
  expect(files).not.toHaveLength(0);
});
