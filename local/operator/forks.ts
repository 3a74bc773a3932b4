/**
 * `npm run forks`: lists the forks of the bot account at GitHub that no open pull request needs,
 * and deletes them if told to. GitHub limits how many repositories an account has, and the service
 * needs no old fork: the next push makes another one. At other hosts the bot has no forks.
 *
 * This is a program of the operator's, not a part of the service, so that the service's own token
 * never needs the right to delete. GitHub's forks share one network, so a fork may be the head of a
 * pull request in any repository of it. A fork is kept while the bot has an open pull request
 * anywhere in its network, and also if that is not known for sure.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseConfig } from '../../src/config/config.ts';
import { type HostConfig, hostNameOf, tokenVariable } from '../../src/config/hosts.ts';
import { readArguments } from '../arguments.ts';
import { complain, variables, withVariables } from '../environment.ts';

const USAGE = `
Usage: npm run forks [-- [--older-than DAYS] [--delete]]

Lists the forks of the bot account at GitHub that have no open pull request, the longest unused first. Set HOSTING_TOKEN
(and HOSTING_URL and HOSTING_API_URL) as for the service. To delete, the token needs the scope delete_repo.

  --older-than DAYS   only forks that nobody has pushed to for so many days (default: 30)
  --delete            deletes them, with their branches, for ever
`;

const DAY_MS = 86_400_000;
const PAGE_SIZE = 50;
/** Most results that GitHub's search lists (docs.github.com/rest/search). */
const MOST_FOUND = 1_000;
/** Pause between deletions: GitHub asks for a second between writes. */
const PAUSE_MS = 1_000;

interface RepositoryJson {
  readonly full_name: string;
  readonly fork: boolean;
  readonly owner: { readonly login: string };
  readonly pushed_at: string;
  readonly parent?: { readonly full_name: string } | null;
  /** The root of the network. */
  readonly source?: { readonly full_name: string } | null;
}

interface Fork {
  readonly name: string;
  readonly network: string;
  readonly usedAt: number;
}

class Api {
  readonly #host: HostConfig;

  constructor(host: HostConfig) {
    this.#host = host;
  }

  /**
   * Sends a request, and reads the JSON of its answer.
   * @throws Error with the host's own sentence, unless the answer is one of success.
   */
  async ask(method: 'GET' | 'DELETE', path: string): Promise<unknown> {
    const response = await fetch(`${this.#host.apiUrl}${path}`, {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `token ${this.#host.token}`,
        'User-Agent': 'gitveil',
        'X-GitHub-Api-Version': '2022-11-28',
      },
    });
    const text = await response.text();
    if (response.ok) return text === '' ? null : JSON.parse(text);
    const { message = text.slice(0, 200) } = (text.startsWith('{') ? JSON.parse(text) : {}) as {
      message?: string;
    };
    throw new Error(`${method} ${path}: ${response.status} ${message}`);
  }

  /** Reads every page of a list. */
  async *list<T>(path: string, entriesOf: (answer: unknown) => readonly T[]): AsyncGenerator<T> {
    const separator = path.includes('?') ? '&' : '?';
    for (let page = 1; ; page++) {
      const query = `${separator}page=${page}&per_page=${PAGE_SIZE}`;
      const entries = entriesOf(await this.ask('GET', `${path}${query}`));
      yield* entries;
      if (entries.length === 0) return;
    }
  }
}

/** Finds the roots of the networks in which the bot has open pull requests. */
async function networksInUse(api: Api, bot: string): Promise<Set<string>> {
  const repositories = new Set<string>();
  const query = encodeURIComponent(`is:pr is:open author:${bot}`);
  let count = 0;
  for await (const { repository_url } of api.list(`/search/issues?q=${query}`, foundIssues)) {
    repositories.add(repository_url.split('/').slice(-2).join('/'));
    if (++count >= MOST_FOUND)
      throw new Error(`${bot} has more open pull requests than the host lists: nothing is known for sure`);
  }
  const networks = new Set<string>();
  for (const name of repositories) networks.add(networkOf(await repositoryAt(api, name)));
  return networks;
}

/**
 * Reads the results of a search. GitHub cuts a search short that takes it too long
 * (docs.github.com/rest/search, "Timeouts and incomplete results").
 */
function foundIssues(answer: unknown): readonly { readonly repository_url: string }[] {
  const { items, incomplete_results } = answer as {
    items: readonly { repository_url: string }[];
    incomplete_results: boolean;
  };
  if (incomplete_results) throw new Error('the host could not list all open pull requests: try again later');
  return items;
}

async function repositoryAt(api: Api, name: string): Promise<RepositoryJson> {
  return (await api.ask('GET', `/repos/${name}`)) as RepositoryJson;
}

function networkOf({ full_name, source, parent }: RepositoryJson): string {
  return (source ?? parent ?? { full_name }).full_name.toLowerCase();
}

/**
 * Lists the forks that nothing needs. A fork whose parent is gone is not listed, because nobody can
 * tell what it belongs to.
 */
async function unusedForks(api: Api, olderThanMs: number): Promise<Fork[]> {
  const { login } = (await api.ask('GET', '/user')) as { login: string };
  const used = await networksInUse(api, login);
  const forks: Fork[] = [];
  for await (const { full_name, fork, owner } of api.list(
    '/user/repos?affiliation=owner',
    (answer) => answer as readonly RepositoryJson[],
  )) {
    if (!fork || owner.login.toLowerCase() !== login.toLowerCase()) continue;
    const whole = await repositoryAt(api, full_name);
    const usedAt = Date.parse(whole.pushed_at);
    const network = networkOf(whole);
    const isKnown = whole.fork && network !== full_name.toLowerCase() && !Number.isNaN(usedAt);
    if (isKnown && !used.has(network) && Date.now() - usedAt >= olderThanMs) {
      forks.push({ name: full_name, network, usedAt });
    }
  }
  return forks.toSorted((a, b) => a.usedAt - b.usedAt);
}

async function run(host: HostConfig, olderThanMs: number, deletes: boolean): Promise<void> {
  const api = new Api(host);
  const forks = await unusedForks(api, olderThanMs);
  for (const { name, network, usedAt } of forks) {
    if (deletes) {
      await api.ask('DELETE', `/repos/${name}`);
      await pause(PAUSE_MS);
    }
    const since = new Date(usedAt).toISOString().slice(0, 10);
    console.log(`${deletes ? 'deleted  ' : ''}${name}  (fork of ${network}, unused since ${since})`);
  }
  const count = forks.length === 1 ? '1 fork' : `${forks.length} forks`;
  if (deletes) console.log(`${count} deleted at ${hostNameOf(host)}.`);
  else console.log(`${count} at ${hostNameOf(host)} that no open pull request needs. Delete with --delete.`);
}

const { values } = readArguments(USAGE, {
  'older-than': { type: 'string', default: '30' },
  delete: { type: 'boolean', default: false },
});
const result = parseConfig(variables());
const hosts = result.kind === 'valid' ? result.config.hosts : [];
const host = hosts.find(({ kind }) => kind === 'github');
const days = Number(values['older-than']);
if (result.kind === 'invalid') for (const { message } of result.problems) complain(message);
else if (host === undefined || host.token === null)
  complain(
    `${tokenVariable('gh')} is not set: set it to the token of the bot whose forks are to be listed.\n${withVariables('npm run forks')}`,
  );
else if (!/^\d{1,5}$/.test(values['older-than']))
  complain('--older-than must be a number of days, such as 30');
else {
  await run(host, days * DAY_MS, values.delete).catch((error: unknown) =>
    complain(error instanceof Error ? error.message : String(error)),
  );
}
