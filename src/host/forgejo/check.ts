/** Whether a Forgejo or Gitea can be used: what it is, what it allows, and what the bot's token may do. */
import { FORGEJO_RULES } from './account-rules.ts';
import type { TokenProblem } from '../account/account-rules.ts';
import { ask, type CheckedAnswer, fieldOf, type HostCheck, type HostProblem } from '../host-check.ts';
import { hostText } from '../host-error.ts';
import type { RestAccess } from '../rest/octokit.ts';

/** The first whose tokens have the scopes that the service asks for. Forgejo names the Gitea that it is like. */
const OLDEST = { major: 1, minor: 20 };
const NO_REPOSITORY = 'gitveil-asks-for-its-scopes';
const SCOPES = 'write:repository, write:issue, read:user and read:notification';

/** Never rejects. */
export async function checkForgejo(
  { apiUrl, token, http, tokenWatch }: Pick<RestAccess, 'apiUrl' | 'token' | 'http' | 'tokenWatch'>,
  kind: 'forgejo' | 'gitea',
): Promise<HostCheck> {
  const { host } = new URL(apiUrl);
  const problem = (what: HostProblem, sentence: string): HostCheck => ({
    kind: what,
    sentence: `${host} ${sentence}`,
  });
  const said = await ask(http, `${apiUrl}/version`, null);
  if (said === null)
    return problem('unreachable', 'does not answer. Check its address, and try again later.');
  if (said.status === 401 || said.status === 403) {
    return problem(
      'closed',
      'is open only to people who are signed in, so nobody could fetch through the service.',
    );
  }
  const version = fieldOf(said, 'version');
  if (said.status !== 200 || typeof version !== 'string') {
    return problem(
      'wrong-kind',
      `is no ${kind}, or its REST interface is switched off: ${apiUrl} answers with ${said.status}.`,
    );
  }
  const software = softwareOf(version);
  if (software.kind !== null && software.kind !== kind) {
    return problem('wrong-kind', `is ${software.name}. Set its kind to ${software.kind}.`);
  }
  if (software.isTooOld) {
    return problem(
      'too-old',
      `is ${software.name}. The service needs what came with Gitea 1.20 and Forgejo 7.`,
    );
  }
  const settings = await ask(http, `${apiUrl}/settings/repository`, null);
  if (settings !== null && fieldOf(settings, 'http_git_disabled') === true) {
    return problem('no-git', 'does not offer Git over HTTP. Its operator can switch that on.');
  }
  if (settings !== null && fieldOf(settings, 'forks_disabled') === true) {
    return problem('no-forking', 'allows no forks, so there can be no pull requests from outside.');
  }
  // A service without a token only reads.
  if (token === '') return { kind: 'ready', software: software.name };
  for (const answer of await tokenAnswers(http, apiUrl, token)) {
    if (answer === null) return problem('unreachable', 'does not answer the bot. Try again later.');
    tokenWatch.observe(answer);
    const [missing] = FORGEJO_RULES.tokenProblems(token, answer, 0) ?? [];
    if (missing !== undefined) return tokenProblem(problem, missing);
    if (answer.status === 403) {
      return problem(
        'token-rejected',
        `refuses the bot account: ${hostText(String(fieldOf(answer, 'message')))}.`,
      );
    }
  }
  return { kind: 'ready', software: software.name };
}

/** The scope of a call is asked for before its repository is looked up, so one that does not exist will do. */
async function tokenAnswers(
  http: RestAccess['http'],
  apiUrl: string,
  token: string,
): Promise<readonly (CheckedAnswer | null)[]> {
  const user = await ask(http, `${apiUrl}/user`, token);
  const login = user === null ? undefined : fieldOf(user, 'login');
  if (typeof login !== 'string' || user?.status !== 200) return [user];
  const repository = `${apiUrl}/repos/${encodeURIComponent(login)}/${NO_REPOSITORY}`;
  return Promise.all([
    ask(http, `${repository}/forks`, token, 'POST'),
    ask(http, `${repository}/issues`, token, 'POST'),
    ask(http, `${apiUrl}/notifications?limit=1`, token),
  ]);
}

function tokenProblem(
  problem: (what: HostProblem, sentence: string) => HostCheck,
  missing: TokenProblem,
): HostCheck {
  if (missing === 'rejected') {
    return problem(
      'token-rejected',
      'does not know the token of the bot account. Make another one, and set it.',
    );
  }
  const scope = missing.slice('no-'.length);
  return problem('scope-missing', `says that the token lacks the scope ${scope}. Make one with ${SCOPES}.`);
}

interface Software {
  readonly name: string;
  /** Null: it does not say. */
  readonly kind: 'forgejo' | 'gitea' | null;
  readonly isTooOld: boolean;
}

/** `1.26.0`, `11.0.1+gitea-1.22.0`, or something else for a build of one's own. */
function softwareOf(version: string): Software {
  const [own = '', compatible] = version.split('+gitea-');
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(compatible ?? own) ?? [];
  const isTooOld =
    major !== undefined &&
    (Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor));
  const kind = compatible !== undefined ? 'forgejo' : major !== undefined ? 'gitea' : null;
  const shown = hostText(own);
  return {
    name: kind === null ? shown : `${kind === 'forgejo' ? 'Forgejo' : 'Gitea'} ${shown}`,
    kind,
    isTooOld,
  };
}
