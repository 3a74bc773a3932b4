/**
 * Checks that nothing an object has deleted is in its files, while workerd runs and after it was
 * killed.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { bundleWorker } from '../../local/deploy/esbuild.ts';
import { startService } from '../../local/runtime/service.ts';
import { builtWorker } from '../e2e/support/built-worker.ts';
import { exhaustive } from '../support/exhaustive.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'gitveil-keep-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

/** The kinds of files that hold this text. */
function holding(text: string): string[] {
  const folder = join(stateDir, 'do/gitveil-Keeping');
  return readdirSync(folder)
    .filter((name) => readFileSync(join(folder, name)).includes(text))
    .map((name) => name.replace(/^.*\.sqlite/, 'sqlite'));
}

it('deletes rows from the database and from its log, and keeps the others', exhaustive, async () => {
  const build = builtWorker();
  const script = await bundleWorker({
    main: 'test/local/support/keeping-worker.ts',
    minify: false,
    alias: {},
  });
  const settings = { ...build.settings, durableObjects: { KEEPING: 'Keeping' } };
  const service = await startService({ build: { ...build, script, settings }, env: {}, stateDir });
  try {
    const call = async (query: string): Promise<unknown> => (await fetch(`${service.url}/?${query}`)).json();
    await call('write=client-of-today');
    await call('write=client-who-left');
    expect(holding('client-who-left')).not.toEqual([]);
    expect(await call('keep=client-of-today')).toBe(300);
    expect(holding('client-who-left')).toEqual([]);
    expect(holding('client-of-today')).not.toEqual([]);
    expect(await call('keep=nobody')).toBe(0);
    expect(holding('client-of-today')).toEqual([]);
  } finally {
    await service.dispose();
  }
  expect([...holding('client-of-today'), ...holding('client-who-left')]).toEqual([]);
});
