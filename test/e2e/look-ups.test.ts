/** Look-ups of hashes that nobody has: whoever asks for many of them must not fill the disk. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { WorkerBuild } from '../../local/build.ts';
import { type Service, startService } from '../../local/service.ts';

const LOOK_UPS = 100;

const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-look-ups-'));
let service: Service;

/** A hash that nobody has, and that stands out in a file. */
const hashOf = (index: number): string => `feed${index.toString(16).padStart(4, '0')}`;

async function lookUp(hash: string): Promise<number[]> {
  const paths = [`/v1/moderation/report?hash=${hash}`, `/api/pr-status/${hash}`];
  const answers = await Promise.all(paths.map((path) => fetch(`${service.url}${path}`)));
  for (const answer of answers) await answer.text();
  return answers.map(({ status }) => status);
}

function allFiles(): string[] {
  const entries = readdirSync(stateDir, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** Without the journals that come and go. */
const databases = () => new Set(allFiles().filter((path) => !/-(?:wal|shm|journal)$/.test(path)));

const filesThatHold = (text: string) => allFiles().filter((path) => readFileSync(path).includes(text));

beforeAll(async () => {
  const build = JSON.parse(inject('workerBuild') ?? '') as WorkerBuild;
  service = await startService({ build, env: {}, stateDir, writeLog: () => {} });
});

afterAll(async () => {
  await service.dispose();
  rmSync(stateDir, { recursive: true, force: true });
});

it('of made-up hashes leave no file and no row', async () => {
  await lookUp(hashOf(0));
  // Makes the one object that adds up what is counted.
  await (await fetch(`${service.url}/metrics`, { headers: { Accept: 'text/plain' } })).text();
  const before = databases();
  for (let index = 0; index < LOOK_UPS; index++) expect(await lookUp(hashOf(index))).toEqual([200, 200]);
  expect(databases()).toEqual(before);
  expect(filesThatHold('feed00')).toEqual([]);
});
