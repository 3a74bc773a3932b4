/** Whether GitHub, or a server with the same interface, can be used with the bot's token. */
import { ask, fieldOf, type HostCheck } from '../host-check.ts';
import { hostText } from '../../host-text.ts';
import type { RestAccess } from '../rest/octokit.ts';
import { GITHUB_RULES } from './account-rules.ts';

/** Never rejects. @param now milliseconds since 1970. */
export async function checkGitHub(
  { apiUrl, token, http, tokenWatch }: Pick<RestAccess, 'apiUrl' | 'token' | 'http' | 'tokenWatch'>,
  now: number,
): Promise<HostCheck> {
  const { host } = new URL(apiUrl);
  // A service without a token only reads.
  if (token === '') return { kind: 'ready', software: null };
  const user = await ask(http, `${apiUrl}/user`, token);
  if (user === null) {
    return {
      kind: 'unreachable',
      sentence: `${host} does not answer. Check its address, and try again later.`,
    };
  }
  tokenWatch.observe(user);
  const problems = GITHUB_RULES.tokenProblems(token, user, now) ?? [];
  if (problems.includes('rejected')) {
    const sentence = `${host} does not know the token of the bot account. Make another one, and set it.`;
    return { kind: 'token-rejected', sentence };
  }
  if (user.status === 403) {
    const said = hostText(String(fieldOf(user, 'message')));
    return { kind: 'token-rejected', sentence: `${host} refuses the bot account: ${said}.` };
  }
  if (typeof fieldOf(user, 'login') !== 'string') {
    return { kind: 'wrong-kind', sentence: `${host} does not answer as GitHub does at ${apiUrl}.` };
  }
  const scopes = problems.flatMap((problem) =>
    problem.startsWith('no-') ? [problem.slice('no-'.length)] : [],
  );
  if (scopes.length === 0) return { kind: 'ready', software: null };
  return {
    kind: 'scope-missing',
    sentence: `${host} says that the token lacks the scope ${scopes.join(' and ')}. Make one that has it.`,
  };
}
