/** The picture of a first push in README.md shows what a push really prints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import type { WorkerBuild } from '../../local/build.ts';
import { firstPush, PICTURE, terminalPicture } from '../../local/terminal-picture.ts';
import { ROOT } from './programs.ts';

it('is up to date: npm run picture draws it again', async () => {
  const build = JSON.parse(inject('workerBuild') ?? 'null') as WorkerBuild;
  expect(readFileSync(join(ROOT, PICTURE), 'utf8')).toBe(terminalPicture(await firstPush(build)));
});
