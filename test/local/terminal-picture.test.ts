/** The picture of a first push in README.md shows what a push really prints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstPush, PICTURE, terminalPicture } from '../../local/generate/terminal-picture.ts';
import { builtWorker } from '../e2e/support/built-worker.ts';
import { ROOT } from './programs.ts';
import { exhaustive } from '../support/exhaustive.ts';

it('is up to date: npm run picture draws it again', exhaustive, async () => {
  const build = builtWorker();
  expect(readFileSync(join(ROOT, PICTURE), 'utf8')).toBe(terminalPicture(await firstPush(build)));
});
