/**
 * A checkout whose bundles were made once: `npm start` uses them while they are what it would make.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
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
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Program, ROOT, freePorts, nodeStart, ownEnvironment, untilPrinted } from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

const LEFT_OUT = /^(node_modules|\.git|\.state|\.wrangler|\.build|test|docs|bench)$/;

let folder: string;
let checkout: string;
let program: Program | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitveil-test-'));
  checkout = join(folder, 'checkout');
  cpSync(ROOT, checkout, { recursive: true, filter: (path) => !LEFT_OUT.test(path.slice(ROOT.length + 1)) });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  program = null;
});

afterEach(async () => {
  program?.child.kill('SIGTERM');
  await program?.ended;
  rmSync(folder, { recursive: true, force: true });
});

/** The hash of its bundle, as a service says that was started now. */
async function startedBundle(): Promise<string | null> {
  const port = await freePorts();
  const before = readdirSync(checkout);
  program = nodeStart({ cwd: checkout, env: { PORT: String(port), STATE_DIR: join(folder, 'state') } });
  await untilPrinted(program, 'Press Ctrl-C to stop.');
  const answer = await fetch(`http://127.0.0.1:${port}/health`);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
  expect(program.output.stderr).toBe('');
  // A service may lack the right to write here.
  expect(readdirSync(checkout)).toEqual(before);
  return answer.headers.get('X-Bundle');
}

const runNode = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: checkout, env: ownEnvironment(), encoding: 'utf8' });

/** The hash of the bundle that `npm start` takes. */
function takenBundle(): string {
  const before = readdirSync(checkout);
  const ask = `import { buildForStart } from './local/deploy/kept-build.ts';
    const { worker } = await buildForStart();
    process.stdout.write(worker.bundleHash);`;
  const hash = runNode('--input-type=module', '--eval', ask);
  expect(readdirSync(checkout)).toEqual(before);
  return hash;
}

it('needs no other packages than those that the Dockerfile copies beside it', exhaustive, async () => {
  runNode('local/deploy/bundle.ts', '--keep');
  const copies = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(
    /^COPY --from=build \/srv\/gitveil\/(node_modules\/\S+) (node_modules\/\S+)$/gm,
  );
  rmSync(join(checkout, 'node_modules'));
  mkdirSync(join(checkout, 'node_modules'));
  // Copies, because a symbolic link would lead to all the others.
  for (const [, from = '', to = ''] of copies)
    cpSync(join(ROOT, from), join(checkout, to), { recursive: true });
  expect(await startedBundle()).toMatch(/^[0-9a-f]{64}$/);
});

it(
  'is used while it is whole and no source has changed; else one is made at each start, and not kept',
  exhaustive,
  async () => {
    const kept = join(checkout, '.build/start.json');
    expect(existsSync(kept)).toBe(false);
    expect(runNode('local/deploy/bundle.ts', '--keep')).toContain('.build/start.json');
    const text = readFileSync(kept, 'utf8');
    const made = /"bundleHash":"([0-9a-f]{64})"/.exec(text)?.[1] as string;
    // To tell it from one that is made at the start.
    const marked = 'ab'.repeat(32);
    const other = text.replace(`"bundleHash":"${made}"`, `"bundleHash":"${marked}"`);
    writeFileSync(kept, other);
    expect(await startedBundle()).toBe(marked);

    // As if its writing had broken off.
    writeFileSync(kept, other.slice(0, 1000));
    expect(takenBundle()).toBe(made);
    expect(readFileSync(kept, 'utf8')).toBe(other.slice(0, 1000));

    writeFileSync(kept, other);
    appendFileSync(join(checkout, 'src/log.ts'), '\n// A change.\n');
    expect(takenBundle()).toBe(made);
    expect(readFileSync(kept, 'utf8')).toBe(other);
  },
);
