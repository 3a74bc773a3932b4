/** Whether a Forgejo or Gitea can be used: what it is, what it allows, and what the bot's token may do. */
import { FORGEJO_RULES } from './account-rules.ts';
import type { TokenProblem } from '../account/account-rules.ts';
import { ask, type CheckedAnswer, fieldOf, type HostCheck, type HostProblem } from '../host-check.ts';
import { encodeLsRefs } from '../../git/wire/protocol-v2.ts';
import { type Caller, SmartHttp } from '../git/smart-http.ts';
import { hostText } from '../../host-text.ts';
import type { RepositoryName } from '../../repository-name.ts';
import type { RestAccess } from '../rest/octokit.ts';
import { failureStatus } from '../rest/request-failure.ts';

/** The first whose tokens have the scopes that the service asks for. Forgejo names the Gitea that it is like. */
const OLDEST = { major: 1, minor: 20 };
const NO_REPOSITORY = 'gitveil-asks-for-its-scopes';
const SCOPES = 'write:repository, write:issue, read:user and read:notification';
const GIT_TIMEOUT_MS = 10_000;

type Access = Pick<RestAccess, 'apiUrl' | 'token' | 'http' | 'backOff' | 'tokenWatch'>;

/** Never rejects. */
export async function checkForgejo(access: Access, kind: 'forgejo' | 'gitea'): Promise<HostCheck> {
  const { apiUrl, token, http, tokenWatch } = access;
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
  const { answers, breaksGit } = await tokenAnswers(access);
  for (const answer of answers) {
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
  // Gitea 1.26 and Forgejo look whether it is public, and break where there is none.
  if (breaksGit) return tokenProblem(problem, 'public-only');
  return { kind: 'ready', software: software.name };
}

interface TokenAnswers {
  /** Of the REST interface. */
  readonly answers: readonly (CheckedAnswer | null)[];
  /** Whether Git fails with this token. */
  readonly breaksGit: boolean;
}

/** The scope of a call is asked for before its repository is looked up, so one that does not exist will do. */
async function tokenAnswers(access: Access): Promise<TokenAnswers> {
  const { apiUrl, token, http } = access;
  const user = await ask(http, `${apiUrl}/user`, token);
  const login = user === null ? undefined : fieldOf(user, 'login');
  if (typeof login !== 'string' || user?.status !== 200) return { answers: [user], breaksGit: false };
  const repository = `${apiUrl}/repos/${encodeURIComponent(login)}/${NO_REPOSITORY}`;
  const [breaksGit, ...answers] = await Promise.all([
    failsForBot(access, { owner: login, name: NO_REPOSITORY }),
    ask(http, `${repository}/forks`, token, 'POST'),
    ask(http, `${repository}/issues`, token, 'POST'),
    ask(http, `${apiUrl}/notifications?limit=1`, token),
  ]);
  return { answers, breaksGit };
}

/** A fault of the server's own comes once, or to everybody. */
async function failsForBot(access: Access, repository: RepositoryName): Promise<boolean> {
  const fails = async (caller: Caller) => (await gitFailure(access, repository, caller)) === 500;
  return (await fails('bot')) && !(await fails('public')) && fails('bot');
}

/** The status with which a list of refs is refused; undefined: there is none. */
async function gitFailure(
  access: Access,
  repository: RepositoryName,
  caller: Caller,
): Promise<number | undefined> {
  const git = new SmartHttp(access.apiUrl.replace(/\/api\/v1$/, ''), access, access.http, GIT_TIMEOUT_MS);
  try {
    const answer = await git.post(repository, 'git-upload-pack', caller, encodeLsRefs(['HEAD']));
    await answer.body?.cancel();
    return undefined;
  } catch (error) {
    return failureStatus(error);
  }
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
  if (missing === 'public-only') {
    return problem(
      'public-only',
      'limits the token to public repositories (public-only), which breaks notifications or Git there. ' +
        `Make one without that limit, with ${SCOPES}.`,
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
