/**
 * Checks whether a code host can be used with the bot's token: by a few reads, and at Forgejo and
 * Gitea by writes to a repository that does not exist. Nothing is changed.
 */
import { type HostConfig, hostNameOf, tokenVariable } from '../../src/config/hosts.ts';
import { type TokenProblem, tokenProblems } from '../../src/host/account/token-problems.ts';
import { accountWords } from '../../src/notify/account-words.ts';
import { hostText } from '../../src/words/host-text.ts';
import { type Answer, ask, fieldOf, type NoAnswer, wordOf } from './ask-host.ts';
import type { Finding } from './finding.ts';

export interface HostCheck {
  readonly findings: readonly Finding[];
  /**
   * Milliseconds by which this machine's clock is ahead of the host's; `null` if the host does not
   * tell the time.
   */
  readonly aheadMs: number | null;
}

/**
 * Gitea's first version whose tokens have the scopes that the service asks for. Forgejo names the
 * version of Gitea that it is compatible with.
 */
const OLDEST = { major: 1, minor: 20 };
const NO_REPOSITORY = 'gitveil-asks-for-its-scopes';
const FORGEJO_SCOPES = 'write:repository, write:issue, read:user and read:notification';
const GITHUB_SCOPES = 'public_repo, workflow and notifications';

/** Checks a host. Never rejects. */
export async function checkHost(host: HostConfig): Promise<HostCheck> {
  return host.kind === 'github' ? checkGitHub(host) : checkForgejo(host);
}

async function checkGitHub(host: HostConfig): Promise<HostCheck> {
  const { apiUrl, url, token } = host;
  const user = await ask(token === null ? url : `${apiUrl}/user`, token);
  if ('why' in user) return { findings: [unreachable(host, user)], aheadMs: null };
  const { aheadMs } = user;
  if (token === null) return { findings: [ready(host, ''), noToken(host)], aheadMs };
  const login = fieldOf(user, 'login');
  const isKnown = typeof login === 'string' || user.status === 401 || user.status === 403;
  if (!isKnown) {
    const remedy = `${apiUrl} does not answer as GitHub does. Set HOSTING_URL and HOSTING_API_URL to those of the host.`;
    return { findings: [problem(host, 'is no GitHub', remedy)], aheadMs };
  }
  const version = user.header('x-github-enterprise-version');
  const git = await ask(`${url}/gitveil/${NO_REPOSITORY}/info/refs?service=git-upload-pack`, null);
  const findings = [
    'why' in git ? unreachable(host, git) : ready(host, version === null ? 'GitHub' : `GitHub ${version}`),
    tokenFinding(host, [user], GITHUB_SCOPES),
  ];
  return { findings, aheadMs };
}

async function checkForgejo(host: HostConfig): Promise<HostCheck> {
  const { apiUrl, url, token } = host;
  const said = await ask(`${apiUrl}/version`, null);
  if ('why' in said) return { findings: [unreachable(host, said)], aheadMs: null };
  const { aheadMs } = said;
  const settings = await ask(`${apiUrl}/settings/repository`, null);
  // A server that can open pull requests by a push says so here, also to the tool of that name.
  const agit = await ask(`${url}/ssh_info`, null);
  if ('why' in agit) return { findings: [unreachable(host, agit)], aheadMs };
  const fault = faultOf(host, said, { settings, agit });
  if (fault !== null) return { findings: [fault], aheadMs };
  const { name } = softwareOf(fieldOf(said, 'version') as string);
  if (token === null) return { findings: [ready(host, name), noToken(host)], aheadMs };
  const answers = await tokenAnswers(host, token);
  const silent = answers.find((answer) => 'why' in answer);
  if (silent !== undefined) return { findings: [unreachable(host, silent)], aheadMs };
  const finding = tokenFinding(host, answers as Answer[], FORGEJO_SCOPES);
  // Gitea 1.26 and Forgejo check whether a repository is public, and break where there is none.
  const breaksGit = finding.state === 'ok' && (await failsForBot(host, answers[0] as Answer));
  const publicOnly = () => tokenProblem(host, ['public-only'], FORGEJO_SCOPES);
  return { findings: [ready(host, name), breaksGit ? publicOnly() : finding], aheadMs };
}

/** Finds a fault that makes the server useless for the service; `null` if there is none. */
function faultOf(
  host: HostConfig,
  said: Answer,
  { settings, agit }: { readonly settings: Answer | NoAnswer; readonly agit: Answer },
): Finding | null {
  const { kind, apiUrl } = host;
  const name = hostNameOf(host);
  if (said.status === 401 || said.status === 403) {
    const remedy = `${name} is open only to people who are signed in, so nobody could fetch through the service. Its operator can change that (REQUIRE_SIGNIN_VIEW).`;
    return problem(host, 'is closed to the public', remedy);
  }
  const version = fieldOf(said, 'version');
  if (said.status !== 200 || typeof version !== 'string') {
    const remedy = `${name} is no ${kind}, or its REST interface is switched off: ${apiUrl} answers with ${said.status}. Correct HOSTS.`;
    return problem(host, `is no ${kind}`, remedy);
  }
  const software = softwareOf(version);
  if (software.kind !== null && software.kind !== kind) {
    return problem(host, `is ${software.name}`, `Set the kind of ${host.key} in HOSTS to ${software.kind}.`);
  }
  if (software.isTooOld) {
    const remedy = `${name} is too old. The service needs what came with Gitea 1.20 and Forgejo 7.`;
    return problem(host, `is ${software.name}`, remedy);
  }
  if (isSet(settings, 'http_git_disabled')) {
    return problem(
      host,
      'has no Git over HTTP',
      `The operator of ${name} can switch it on (DISABLE_HTTP_GIT).`,
    );
  }
  if (agit.status === 404) {
    const remedy = `${name} opens no pull requests by a push to refs/for/<branch>, which the service needs. Its operator must install Git 2.29 or newer there.`;
    return problem(host, 'has no AGit flow', remedy);
  }
  return null;
}

const isSet = (settings: Answer | NoAnswer, name: string): boolean =>
  !('why' in settings) && fieldOf(settings, name) === true;

/** Tries the scopes of a token on a repository that does not exist: a server checks them first. */
async function tokenAnswers({ apiUrl }: HostConfig, token: string): Promise<readonly (Answer | NoAnswer)[]> {
  const user = await ask(`${apiUrl}/user`, token);
  const login = 'why' in user ? undefined : fieldOf(user, 'login');
  if (typeof login !== 'string') return [user];
  const repository = `${apiUrl}/repos/${encodeURIComponent(login)}/${NO_REPOSITORY}`;
  const others = await Promise.all([
    ask(`${repository}/pulls`, token, 'POST'),
    ask(`${repository}/issues`, token, 'POST'),
    ask(`${apiUrl}/notifications?limit=1`, token),
  ]);
  return [user, ...others];
}

/**
 * Whether Git over HTTP fails with the bot's token alone. A fault of the server itself comes once,
 * or for everybody.
 * @param user the host's answer about the bot.
 */
async function failsForBot({ url, token }: HostConfig, user: Answer): Promise<boolean> {
  const repository = `${url}/${encodeURIComponent(wordOf(user, 'login'))}/${NO_REPOSITORY}.git`;
  const fails = async (caller: string | null) => {
    const answer = await ask(`${repository}/info/refs?service=git-upload-pack`, caller, 'GET', 'Basic');
    return 'why' in answer && answer.why.startsWith('500');
  };
  return (await fails(token)) && !(await fails(null)) && fails(token);
}

/** Gives the host's time, which decides when a token ends; this machine's clock may be wrong. */
const nowBy = ({ aheadMs }: Answer): number => Date.now() - (aheadMs ?? 0);

/**
 * Judges the token.
 * @param answers to calls with the token, the first of which asked for the account.
 */
function tokenFinding(host: HostConfig, answers: readonly Answer[], scopes: string): Finding {
  const token = host.token ?? '';
  const found = answers.flatMap((answer) => tokenProblems(host.kind, token, answer, nowBy(answer)) ?? []);
  const problems = [...new Set(found)];
  const refused = answers.find(({ status }) => status === 403);
  if (problems.length > 0) return tokenProblem(host, problems, scopes);
  if (refused !== undefined) {
    const said = hostText(wordOf(refused, 'message'));
    const remedy = `${hostNameOf(host)} refuses the bot account: ${said}. Sign in there as the bot.`;
    return { subject: `token ${host.key}`, state: 'problem', says: 'is refused', remedy };
  }
  const login = hostText(wordOf(answers[0] as Answer, 'login'));
  const saysNothing =
    host.kind === 'github' && tokenProblems('github', token, answers[0] as Answer, 0) === null;
  const says = `${login}, ${saysNothing ? 'whose scopes the host does not name' : 'with every scope it needs'}`;
  return { subject: `token ${host.key}`, state: 'ok', says };
}

function tokenProblem(host: HostConfig, problems: readonly TokenProblem[], scopes: string): Finding {
  const name = hostNameOf(host);
  const { ofAccount, sentence } = accountWords(name, `at ${name}`, problems);
  const next = ofAccount === null ? ` Make one with ${scopes}, and set ${tokenVariable(host.key)}.` : '';
  return {
    subject: `token ${host.key}`,
    state: problems.every((one) => one === 'expires-soon') ? 'warning' : 'problem',
    says: problems.join(', '),
    remedy: `${sentence}.${next}`,
  };
}

function ready(host: HostConfig, software: string): Finding {
  const says = software === '' ? hostNameOf(host) : `${hostNameOf(host)}, ${software}`;
  return { subject: `host ${host.key}`, state: 'ok', says };
}

function problem(host: HostConfig, says: string, remedy: string): Finding {
  return { subject: `host ${host.key}`, state: 'problem', says: `${hostNameOf(host)} ${says}`, remedy };
}

function unreachable(host: HostConfig, { why }: NoAnswer): Finding {
  const remedy = `Check the address of ${hostNameOf(host)}, and this machine's way to it; or try again later.`;
  return problem(host, `does not answer (${hostText(why)})`, remedy);
}

function noToken(host: HostConfig): Finding {
  const variable = tokenVariable(host.key);
  return {
    subject: `token ${host.key}`,
    state: 'warning',
    says: 'none: people can only fetch',
    remedy: `Set ${variable} to a token with ${host.kind === 'github' ? GITHUB_SCOPES : FORGEJO_SCOPES} if people are to contribute at ${hostNameOf(host)}.`,
  };
}

interface Software {
  readonly name: string;
  /** `null` if the server does not say. */
  readonly kind: 'forgejo' | 'gitea' | null;
  readonly isTooOld: boolean;
}

/**
 * Reads a version such as `1.26.0` or `11.0.1+gitea-1.22.0`. A build of one's own may have another.
 */
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
