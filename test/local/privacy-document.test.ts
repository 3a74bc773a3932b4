/**
 * Runs the commands with which docs/privacy.md has people search for their own name, and claim a
 * commit later: in a clone with a new branch, as README.md makes it.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { git } from '../sandbox/support/git.ts';
import { ROOT } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'gitveil-privacy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const clone = join(folder, 'clone');

/** The lines of the first block of commands that holds this text. */
function blockIn(document: string, text: string): string[] {
  const blocks = readFileSync(join(ROOT, document), 'utf8').match(/(?<=^ *```sh\n)[^`]*/gm) ?? [];
  const found = blocks.find((block) => block.includes(text)) ?? '';
  return found.trim().split(/\s*\n\s*/);
}

/** In a shell, in the clone. Answers what it prints; rejects if it fails. */
async function typed(command: string): Promise<string> {
  const env = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_PAGER: 'cat' };
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: clone, env });
  return stdout.trim();
}

beforeAll(async () => {
  await git(folder, 'init', '--quiet', '--initial-branch=main', 'upstream');
  await git(join(folder, 'upstream'), 'commit', '--quiet', '--allow-empty', '--message', 'By Grace Hopper');
  await git(folder, 'clone', '--quiet', 'upstream', 'clone');
  await git(clone, 'switch', '--quiet', '--create', 'my-change');
  await git(clone, 'commit', '--quiet', '--allow-empty', '--message', 'By Ada Lovelace');
});

it('the search for a name finds it in what would be pushed, and not in what upstream has', async () => {
  const [search = ''] = blockIn('docs/privacy.md', 'grep -i <name>');
  expect(await typed(search.replace('<name>', 'lovelace'))).toBe('By Ada Lovelace');
  await expect(typed(search.replace('<name>', 'hopper'))).rejects.toMatchObject({ code: 1, stderr: '' });
});

it('the digits in a message are those of the file that is shown later', async () => {
  const [make = '', digits = ''] = blockIn('docs/privacy.md', '/dev/urandom');
  await typed(make);
  const line = await typed(digits);
  expect(line).toMatch(/^[0-9a-f]{64}$/);
  const [check = ''] = blockIn('docs/maintainers.md', 'the-file');
  expect((await typed(check.replace('the-file', 'credit-1'))).split(' ')[0]).toBe(line);
});
