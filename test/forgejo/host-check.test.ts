/** What an operator hears of a host that cannot be used, and of one that can; and what a missing scope does elsewhere. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { listen } from '../../sandbox/http-server.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import type { TokenProblem } from '../../src/host/account/account-rules.ts';
import type { HostCheck } from '../../src/host/host-check.ts';
import { checkHost, type HostAccess, openThreads } from '../../src/host/open.ts';
import { FORGEJO_RULES } from '../../src/host/forgejo/account-rules.ts';
import { botAccess } from './support/contract-host.ts';
import { BOT, BOT_SCOPES, type Gitea, type GiteaAddress, newToken, startGitea } from './support/gitea.ts';
import { giteaProgram } from './support/gitea-build.ts';

const gitea = () => inject('gitea') as GiteaAddress;
const check = (more: Partial<HostAccess> = {}) => checkHost(botAccess(gitea(), more));
const sentenceOf = (result: HostCheck) => ('sentence' in result ? result.sentence : '');

describe.skipIf(inject('gitea') === null)('a Gitea', () => {
  it('with all that it takes is ready', async () => {
    expect(await check()).toMatchObject({ kind: 'ready', software: expect.stringMatching(/\d+\.\d+/) });
    expect(await check({ token: '' })).toMatchObject({ kind: 'ready' });
  });

  it('that does not answer, or is something else, is named', async () => {
    const { server, url } = await listen(0);
    server.on('request', (_, response) => response.writeHead(404).end('<html>'));
    expect(await check({ apiUrl: `${url}/api/v1` })).toMatchObject({ kind: 'wrong-kind' });
    server.close();
    server.closeAllConnections();
    const gone = await check({ apiUrl: `${url}/api/v1` });
    expect(gone).toMatchObject({ kind: 'unreachable' });
    expect(sentenceOf(gone)).toContain(new URL(url).host);
    expect(await check({ kind: 'github', apiUrl: `${gitea().url}/api/v3` })).toMatchObject({
      kind: 'wrong-kind',
    });
    const sandbox = await startSandbox();
    expect(await check({ apiUrl: sandbox.apiUrl })).toMatchObject({ kind: 'wrong-kind' });
    await sandbox.close();
  });

  it('that does not know the token is named', async () => {
    expect(await check({ token: 'f'.repeat(40) })).toMatchObject({ kind: 'token-rejected' });
  });

  it.each(BOT_SCOPES.split(','))('whose token lacks %s is named, with what it needs', async (scope) => {
    const rest = BOT_SCOPES.split(',').filter((one) => one !== scope);
    const token = await newToken(gitea(), BOT, rest.join(','));
    const problems: (readonly TokenProblem[])[] = [];
    const tokenWatch: HostAccess['tokenWatch'] = {
      observe: (answer) => void problems.push(FORGEJO_RULES.tokenProblems(token, answer, 0) ?? []),
    };
    const result = await check({ token, tokenWatch });
    expect(result).toMatchObject({ kind: 'scope-missing' });
    expect(sentenceOf(result)).toContain(`lacks the scope ${scope}. Make one with write:repository`);
    expect(problems.flat()).toContain(`no-${scope}`);
  });

  it('whose token is limited to public repositories is named', async () => {
    const token = await newToken(gitea(), BOT, `public-only,${BOT_SCOPES}`);
    const result = await check({ token });
    expect(result).toMatchObject({ kind: 'public-only' });
    expect(sentenceOf(result)).toContain(
      `${new URL(gitea().url).host} limits the token to public repositories`,
    );
  });

  it('refuses a call whose scope is missing in words that the token watch knows', async () => {
    const token = await newToken(gitea(), BOT, 'read:user,read:issue,read:repository');
    const problems: TokenProblem[] = [];
    const tokenWatch: HostAccess['tokenWatch'] = {
      observe: (answer) => void problems.push(...(FORGEJO_RULES.tokenProblems(token, answer, 0) ?? [])),
    };
    const threads = openThreads(botAccess(gitea(), { token, tokenWatch }));
    const issue = { title: 'T', body: 'B', labels: [] };
    await expect(threads.createIssue({ owner: 'mona', name: 'any' }, issue)).rejects.toMatchObject({
      code: 'refused',
      said: expect.stringContaining('write:issue'),
    });
    expect(problems).toEqual(['no-write:issue']);
  });

  it.each([
    ['1.19.4', 'gitea', 'too-old'],
    ['1.20.0', 'gitea', 'ready'],
    ['7.0.1+gitea-1.21.11', 'forgejo', 'ready'],
    ['11.0.1+gitea-1.22.0', 'gitea', 'wrong-kind'],
    ['1.26.0', 'forgejo', 'wrong-kind'],
    ['development', 'forgejo', 'ready'],
  ] as const)('that is %s, and configured as %s, is %s', async (version, kind, expected) => {
    const server = createServer((_, response) => response.end(JSON.stringify({ version }))).listen(
      0,
      '127.0.0.1',
    );
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as { port: number };
    const result = await check({ kind, apiUrl: `http://127.0.0.1:${port}/api/v1`, token: '' });
    server.close();
    expect(result.kind).toBe(expected);
  });

  describe('of its own', () => {
    let closed: Gitea;
    beforeAll(async () => {
      const program = await giteaProgram();
      if (program.kind === 'missing') throw new Error(program.reason);
      const sections = { service: { REQUIRE_SIGNIN_VIEW: 'true' }, repository: { DISABLE_HTTP_GIT: 'true' } };
      closed = await startGitea(program, { sections });
    });
    afterAll(() => closed?.stop());

    it('that only shows itself to people who are signed in is named', async () => {
      expect(await checkHost(botAccess(closed.address))).toMatchObject({ kind: 'closed' });
    });
  });
});
