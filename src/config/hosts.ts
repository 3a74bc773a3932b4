/**
 * The code hosts: `gh`, which the contract's paths name, and those of the variable `HOSTS`, each
 * with its token in `HOSTING_TOKEN_<KEY>`.
 * Proved by test/config/config.test.ts and test/routes/hosts.test.ts.
 */
import { type AppKey, readAppKey } from '../host/app/app-key.ts';
import type { AppSettings } from '../host/app/github-app.ts';
import type { HostKind } from '../host/kinds.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { keyKind, type ValueKind, webAddress } from './values.ts';

/** The paths of a repository on a code host (contract, 4.1 to 4.7). */
export const REPOSITORY_PATH = '/v1/:host/:owner/:repo';
/** The path of the App's webhook. */
export const HOOK_PATH = '/v1/hooks/github';

export interface HostConfig {
  /** Names the host in the service's paths: `/v1/<key>/<owner>/<repo>`. */
  readonly key: string;
  readonly kind: HostKind;
  /** Address of its pages and of Git. Like `apiUrl`, without a slash at the end. */
  readonly url: string;
  readonly apiUrl: string;
  /** The bot account's access token; without one (null), nothing can be written there. */
  readonly token: string | null;
  /** The App of the service. Absent: it has none there. */
  readonly app?: AppSettings;
}

/** An entry of `HOSTS`. Its token is a variable of its own, because it is a secret. */
type FurtherHost = Omit<HostConfig, 'token' | 'app'>;

export const MAIN_HOST = 'gh';
export const GITHUB_URL = 'https://github.com';

/** Keys that are taken: `gh`, and what other paths have right below `/v1/`. */
const RESERVED: ReadonlySet<string> = new Set([MAIN_HOST, 'delayed', 'hooks', 'moderation', 'pr']);
const KEY_PATTERN = /^[a-z][a-z0-9]{0,15}$/;
const FURTHER_KINDS: readonly HostKind[] = ['forgejo', 'gitea'];
const MAX_HOSTS = 20;

/**
 * Reads `cb=forgejo:https://codeberg.org,my=gitea:https://…`. Two hosts must not share a server
 * name, because caches are kept by it.
 */
export const furtherHosts = (mainUrl: string): ValueKind<readonly FurtherHost[]> => ({
  rule:
    `up to ${MAX_HOSTS} hosts separated by commas, such as cb=forgejo:https://codeberg.org. Each has a key (1 to 16 ` +
    `lower-case letters and digits, a letter first, not one of ${[...RESERVED].join(', ')}), a kind ` +
    `(${FURTHER_KINDS.join(' or ')}) and the address of its server (without user name, password, path or query). ` +
    `No two hosts may have the same key or server`,
  parse(text) {
    const hosts = readHosts(text, mainUrl);
    return typeof hosts === 'number' ? undefined : Object.freeze(hosts);
  },
  faultIn: (text) => `Number ${readHosts(text, mainUrl) as number} of the list is wrong`,
});

/** Gives the hosts, or the number of the first wrong entry, counted from 1. */
function readHosts(text: string, mainUrl: string): FurtherHost[] | number {
  const hosts: FurtherHost[] = [];
  const servers = new Set([hostNameOf({ url: mainUrl })]);
  const keys = new Set(RESERVED);
  for (const part of text.split(',')) {
    const [, key = '', kindText, address = ''] = /^([^=]*)=([^:]*):(.*)$/.exec(part.trim()) ?? [];
    const kind = FURTHER_KINDS.find((known) => known === kindText);
    const url = webAddress.parse(address);
    const isValid = KEY_PATTERN.test(key) && kind !== undefined && url !== undefined;
    if (!isValid || hosts.length === MAX_HOSTS || new URL(url).pathname !== '/') return hosts.length + 1;
    if (keys.has(key) || servers.has(hostNameOf({ url }))) return hosts.length + 1;
    hosts.push(Object.freeze({ key, kind, url, apiUrl: `${url}/api/v1` }));
    keys.add(key);
    servers.add(hostNameOf({ url }));
  }
  return hosts;
}

export type HostTokenVariable = `HOSTING_TOKEN_${string}`;

export function tokenVariable(key: string): 'HOSTING_TOKEN' | HostTokenVariable {
  return key === MAIN_HOST ? 'HOSTING_TOKEN' : `HOSTING_TOKEN_${key.toUpperCase()}`;
}

export function isHostTokenVariable(name: string): name is HostTokenVariable {
  return name.startsWith('HOSTING_TOKEN_');
}

/** Reads the private key of the GitHub App. */
export const appKey: ValueKind<AppKey> = {
  rule: "the text of the App's private key without a passphrase, as GitHub gives it in a file that ends in .pem",
  ...keyKind(readAppKey),
};

type Hosts = { readonly hosts: readonly HostConfig[] };

/** Gives undefined if the service has no such host. */
export function hostWithKey({ hosts }: Hosts, key: string): HostConfig | undefined {
  return hosts.find((host) => host.key === key);
}

/** Names a host in messages and caches: `codeberg.org`, with a port if it has one. */
export function hostNameOf({ url }: Pick<HostConfig, 'url'>): string {
  return new URL(url).host;
}

/**
 * Links to a file or a folder on the default branch, which GitHub calls `HEAD`. Gitea and Forgejo
 * take a path without a branch.
 */
export function fileUrl({ url, kind }: HostConfig, repository: RepositoryName, path: string): string {
  return `${url}/${fullName(repository)}/${kind === 'github' ? 'blob/HEAD' : 'src'}/${encodeURI(path)}`;
}

/** Names a repository in the service's own addresses: `gh/octo/hello`. */
export function repositoryPath({ key }: Pick<HostConfig, 'key'>, repository: RepositoryName): string {
  return `${key}/${fullName(repository)}`;
}

/** Names a repository in records: `octo/hello` (contract, 2.2), or `cb/octo/hello` elsewhere. */
export function recordName({ key }: Pick<HostConfig, 'key'>, repository: RepositoryName): string {
  return key === MAIN_HOST ? fullName(repository) : repositoryPath({ key }, repository);
}
