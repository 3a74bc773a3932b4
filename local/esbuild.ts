/**
 * Bundles a TypeScript file of the project.
 *
 * With esbuild's program and not with its library: that one starts a child that runs on, and whoever becomes another
 * program meanwhile (local/start.ts) would have it as a zombie for ever.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PROGRAM = join(import.meta.dirname, '../node_modules/.bin/esbuild');

/** Where the bundle will run: as a module in workerd, or as a CommonJS program in Node.js. */
const TARGETS = {
  workerd: ['--format=esm', '--target=es2024'],
  node: ['--format=cjs', '--platform=node', '--target=node24'],
} as const;

/** @param entry relative to this folder */
export async function bundleFile(entry: string, target: keyof typeof TARGETS): Promise<string> {
  const { stdout } = await run(PROGRAM, [entry, '--bundle', '--log-level=warning', ...TARGETS[target]], {
    cwd: import.meta.dirname,
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}
