/**
 * Bundles TypeScript of the project: the Worker, and the programs around it.
 *
 * Uses esbuild's program, not its library: the library starts a child process that keeps running.
 * local/runtime/start.ts replaces itself by execve(2), and would keep that child as a zombie.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const LOCAL = join(import.meta.dirname, '..');
const ROOT = join(LOCAL, '..');
const PROGRAM = join(ROOT, 'node_modules/.bin/esbuild');

/**
 * Options by where the bundle will run: as a module in workerd, or as a CommonJS program in
 * Node.js.
 */
const TARGETS = {
  workerd: ['--format=esm', '--target=es2024'],
  node: ['--format=cjs', '--platform=node', '--target=node24'],
} as const;

/**
 * Options with which wrangler calls esbuild, so that what is tested is what is deployed.
 * test/local/bundle.test.ts compares the two bundles.
 */
const AS_WRANGLER = [
  ...TARGETS.workerd,
  '--conditions=workerd,worker,browser',
  '--external:cloudflare:*',
  '--external:node:*',
  '--loader:.css=text',
  '--loader:.html=text',
  '--loader:.txt=text',
  '--define:process.env.NODE_ENV="production"',
  '--define:navigator.userAgent="Cloudflare-Workers"',
  '--tsconfig-raw={}',
];

/** Settings of the bundle in wrangler.toml. */
export interface WorkerBundle {
  /** The Worker's file. */
  readonly main: string;
  readonly minify: boolean;
  /** Files that take the place of packages. */
  readonly alias: Readonly<Record<string, string>>;
}

/**
 * Bundles the Worker into one ES module. Rejects with esbuild's message if the code does not build.
 */
export async function bundleWorker({ main, minify, alias }: WorkerBundle): Promise<string> {
  const aliases = Object.entries(alias).map(([name, file]) => `--alias:${name}=${file}`);
  return esbuild(ROOT, [main, ...AS_WRANGLER, ...(minify ? ['--minify'] : []), ...aliases]);
}

/**
 * Bundles another program.
 * @param entry relative to `local/`
 */
export async function bundleFile(entry: string, target: keyof typeof TARGETS): Promise<string> {
  return esbuild(LOCAL, [entry, ...TARGETS[target]]);
}

async function esbuild(cwd: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(PROGRAM, [...args, '--bundle', '--log-level=warning'], {
    cwd,
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}
