/**
 * Runs the real git client, measures it from outside as a person would, and ends it when it hangs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment } from '../../sandbox/git-command.ts';

const LIMIT_MS = 120_000;

/**
 * Runs git in a repository. Rejects with git's own words when it fails.
 * @param input a file to read from.
 */
export async function git(repository: string, args: readonly string[], input?: string): Promise<string> {
  const file = input === undefined ? null : openSync(input, 'r');
  const child = spawn('git', ['-C', repository, ...args], {
    env: gitEnvironment(),
    stdio: [file ?? 'ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  });
  if (file !== null) closeSync(file);
  const output: string[] = [];
  const errors: string[] = [];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
  const end = signal === null ? 'failed' : `was ended after ${LIMIT_MS / 1000} s`;
  if (status !== 0) throw new Error(`git ${args.join(' ')} ${end}: ${errors.join('')}`);
  return output.join('');
}

/** Measures the milliseconds that a command takes from its start to its end. */
export async function timedGit(repository: string, args: readonly string[], input?: string): Promise<number> {
  const began = process.hrtime.bigint();
  await git(repository, args, input);
  return Number(process.hrtime.bigint() - began) / 1e6;
}

/**
 * Makes a bare repository that has all objects of `source` without a copy of them, and none of its
 * branches but main.
 */
export async function clientOf(source: string, folder: string): Promise<string> {
  await git(folder, ['init', '--quiet', '--bare', '--initial-branch=main']);
  appendFileSync(join(folder, 'objects/info/alternates'), `${join(source, 'objects')}\n`);
  const main = await git(source, ['rev-parse', 'main']);
  await git(folder, ['update-ref', 'refs/heads/main', main.trim()]);
  return folder;
}

export interface Pack {
  readonly path: string;
  readonly objects: number;
  readonly megabytes: number;
}

/**
 * Makes the pack that a push of a branch sends to a repository that has main. It is thin, as `git
 * push` makes it.
 */
export async function packOfPush(client: string, branch: string, path: string): Promise<Pack> {
  await writePack(client, ['--thin', '--delta-base-offset', '--revs'], `${branch}\n^main\n`, path);
  return describePack(path);
}

async function writePack(client: string, options: string[], objects: string, path: string): Promise<void> {
  const output = openSync(path, 'w');
  const child = spawn('git', ['-C', client, 'pack-objects', '--quiet', ...options, '--stdout'], {
    env: gitEnvironment(),
    stdio: ['pipe', output, 'inherit'],
  });
  closeSync(output);
  child.stdin?.end(objects);
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error('git pack-objects failed');
}

function describePack(path: string): Pack {
  const pack = readFileSync(path);
  return { path, objects: pack.readUInt32BE(8), megabytes: pack.byteLength / 1e6 };
}
