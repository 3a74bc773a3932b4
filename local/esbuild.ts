/**
 * Bundles a TypeScript file of the project.
 *
 * Uses esbuild's program, not its library: the library starts a child process that keeps running. local/start.ts
 * replaces itself by execve(2), and would keep that child as a zombie.
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
