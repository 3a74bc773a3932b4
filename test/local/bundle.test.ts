/** What esbuild makes here is what wrangler deploys: the same bundle, settings and statements of the database. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { readConfig } from '../../local/build.ts';
import { bundleWorker } from '../../local/esbuild.ts';
import { statementsOf } from '../../local/migrations.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIGRATIONS = join(ROOT, 'migrations');

const withoutComments = (statement: string): string => statement.replaceAll(/^--.*$/gm, '').trim();

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-bundle-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('bundles the same bytes as wrangler', async () => {
  // Not minified: then the names are those of the source, and a difference can be read.
  const program = join(ROOT, 'node_modules/wrangler/bin/wrangler.js');
  const args = ['deploy', '--dry-run', '--minify=false', '--outdir', folder];
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_SEND_METRICS: 'false',
  };
  await promisify(execFile)(process.execPath, [program, ...args], { cwd: ROOT, env });
  const [wranglers] = readFileSync(join(folder, 'worker.js'), 'utf8').split('//# sourceMappingURL=');
  const ours = await bundleWorker({ ...(await readConfig()), minify: false });
  // Not `toBe`, which would print two megabytes.
  expect(ours === wranglers, 'the bundles are the same').toBe(true);
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
