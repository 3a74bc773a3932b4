/** A file of a repository, as GitHub's "Get repository content" answers for it. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/isolate/clock.ts';
import { openRepositories } from '../../src/host/open.ts';
import { ACCOUNT } from './support/back-off.ts';

let answered = Response.error();
const http = { fetch: async () => answered };
const github = openRepositories({
  kind: 'github',
  apiUrl: 'https://api.host.test',
  token: 'secret',
  http,
  ...ACCOUNT,
  clock: systemClock,
});
const repository = { owner: 'octo', name: 'hello' };

function answer(status: number, body: unknown): void {
  answered = Response.json(body, { status });
}

describe('a file on the host', () => {
  it('is its bytes', async () => {
    answer(200, { type: 'file', encoding: 'base64', content: 'YWNjZXB0\nOiBmYWxzZQ==\n' });
    const file = await github.file(repository, '.gitveil.yml');
    expect(file.kind === 'file' && new TextDecoder().decode(file.content)).toBe('accept: false');
  });

  it.each([
    ['a folder', [{ type: 'file', name: 'x' }]],
    ['a submodule', { type: 'submodule', submodule_git_url: 'https://host.test/x.git' }],
    ['a link that leads out of the repository', { type: 'symlink', target: '../../etc/passwd' }],
    ['more than 1 MB', { type: 'file', encoding: 'none', content: '', size: 2_000_000 }],
  ])('that is %s cannot be read', async (_, body) => {
    answer(200, body);
    expect(await github.file(repository, '.gitveil.yml')).toEqual({ kind: 'unreadable' });
  });

  it('that is not there is missing', async () => {
    answer(404, { message: 'Not Found' });
    expect(await github.file(repository, '.gitveil.yml')).toEqual({ kind: 'missing' });
  });

  it('that the host does not show is an error', async () => {
    answer(403, { message: 'Repository access blocked' });
    await expect(github.file(repository, '.gitveil.yml')).rejects.toMatchObject({ code: 'refused' });
  });
});
