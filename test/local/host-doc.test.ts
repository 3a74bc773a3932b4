/** docs/host.md lists every REST call that the service makes to GitHub, and names tests that exist. */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['src/host/github', 'src/host/rest'];
/** As the calls stand in the source: `pulls.listReviews`. */
const CALL_PATTERN = /\b(users|repos|git|pulls|issues|activity)\.([a-z]\w+)/g;

type Described = { readonly endpoint?: { readonly DEFAULTS: { method: string; url: string } } };

async function callsInSource(): Promise<string[]> {
  const rest = new Octokit().rest as unknown as Record<string, Record<string, Described>>;
  const listings = FOLDERS.map(async (folder) =>
    (await readdir(join(ROOT, folder))).map((file) => join(ROOT, folder, file)),
  );
  const files = (await Promise.all(listings)).flat();
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const calls = texts.flatMap((text) =>
    Array.from(text.matchAll(CALL_PATTERN), ([, group = '', name = '']) => rest[group]?.[name]?.endpoint),
  );
  return calls.flatMap((call) => (call ? [`${call.DEFAULTS.method} ${call.DEFAULTS.url}`] : []));
}

it('docs/host.md lists every call, and its tests exist', async () => {
  const text = await readFile(join(ROOT, 'docs/host.md'), 'utf8');
  const listed = new Set(Array.from(text.matchAll(/^\| `([A-Z]+ \/[^`]*)`/gm), ([, call = '']) => call));
  const called = new Set(await callsInSource());
  expect(called.size).toBeGreaterThan(15);
  expect([...called].filter((call) => !listed.has(call))).toEqual([]);
  const tests = text.match(/\btest\/[\w/.-]+\.test\.ts/g) ?? [];
  expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
