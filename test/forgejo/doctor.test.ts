/** Findings of `npm run doctor` at a real Gitea, and what a missing scope does elsewhere. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Finding } from '../../local/operator/finding.ts';
import { checkHost } from '../../local/operator/host-check.ts';
import type { HostConfig } from '../../src/config/hosts.ts';
import { type TokenProblem, tokenProblems } from '../../src/host/account/token-problems.ts';
import { openThreads } from '../../src/host/open.ts';
import type { RestAccess } from '../../src/host/rest/rest.ts';
import { botAccess } from './support/contract-host.ts';
import { BOT, BOT_SCOPES, type Gitea, type GiteaAddress, newToken, startGitea } from './support/gitea.ts';
import { giteaProgram } from './support/gitea-build.ts';

const gitea = () => inject('gitea') as GiteaAddress;

async function check({ kind, url, apiUrl, botToken }: GiteaAddress, more: Partial<HostConfig> = {}) {
  const { findings } = await checkHost({ key: 'my', kind, url, apiUrl, token: botToken, ...more });
  return findings;
}

const shortly = (findings: readonly Finding[]) =>
  findings.map(({ subject, state, says }) => `${subject} ${state}: ${says}`);

describe.skipIf(inject('gitea') === null)('a Gitea', () => {
  it('with all that it takes is ready', async () => {
    expect(shortly(await check(gitea()))).toEqual([
      expect.stringMatching(/^host my ok: 127\.0\.0\.1:\d+, (Gitea|Forgejo) \d+\.\d+/),
      `token my ok: ${BOT}, with every scope it needs`,
    ]);
    expect(shortly(await check(gitea(), { token: null }))[1]).toBe(
      'token my warning: none: people can only fetch',
    );
  });

  it('is no GitHub', async () => {
    const [host] = await check(gitea(), { kind: 'github', apiUrl: `${gitea().url}/api/v3` });
    expect(host?.says).toMatch(/ is no GitHub$/);
  });

  it('that does not know the token is named', async () => {
    const [, token] = await check(gitea(), { token: 'f'.repeat(40) });
    expect(token).toMatchObject({ state: 'problem', says: 'rejected' });
  });

  it.each(BOT_SCOPES.split(','))('whose token lacks %s is named, with what it needs', async (scope) => {
    const rest = BOT_SCOPES.split(',').filter((one) => one !== scope);
    const token = await newToken(gitea(), BOT, rest.join(','));
    const [, finding] = await check(gitea(), { token });
    expect(finding).toMatchObject({ state: 'problem', says: `no-${scope}` });
    expect(finding?.remedy).toContain(`lacks the scope ${scope}, without which `);
    expect(finding?.remedy).toContain('Make one with write:repository, ');
  });

  it('whose token is limited to public repositories is named', async () => {
    const token = await newToken(gitea(), BOT, `public-only,${BOT_SCOPES}`);
    const [, finding] = await check(gitea(), { token });
    expect(finding).toMatchObject({ state: 'problem', says: 'public-only' });
  });

  it('refuses a call whose scope is missing in words that the token watch knows', async () => {
    const token = await newToken(gitea(), BOT, 'read:user,read:issue,read:repository');
    const problems: TokenProblem[] = [];
    const tokenWatch: RestAccess['tokenWatch'] = {
      observe: (answer) => void problems.push(...(tokenProblems('forgejo', token, answer, 0) ?? [])),
    };
    const threads = openThreads(botAccess(gitea(), { token, tokenWatch }));
    const issue = { title: 'T', body: 'B', labels: [] };
    await expect(threads.createIssue({ owner: 'mona', name: 'any' }, issue)).rejects.toMatchObject({
      code: 'refused',
      said: expect.stringContaining('write:issue'),
    });
    expect(problems).toEqual(['no-write:issue']);
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
      const [host] = await check(closed.address);
      expect(host).toMatchObject({
        state: 'problem',
        says: expect.stringMatching(/is closed to the public$/) as string,
      });
    });
  });
});
