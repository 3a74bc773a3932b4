/**
 * The code hosts: `gh`, which the contract's paths name, then those of `HOSTS`, with tokens
 * `HOSTING_TOKEN_<KEY>`.
 * Proved by test/config/config.test.ts and test/routes/hosts.test.ts.
 */
import type { HostKind } from '../host/kinds.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { type ValueKind, webAddress } from './values.ts';

/** The paths of a repository on a code host (contract, 4.1 to 4.7). */
export const REPOSITORY_PATH = '/v1/:host/:owner/:repo';

export interface HostConfig {
  /** Its part of the service's paths: `/v1/<key>/<owner>/<repo>`. */
  readonly key: string;
  readonly kind: HostKind;
  /** Pages and Git. Without a slash at its end, as all addresses here. */
  readonly url: string;
  readonly apiUrl: string;
  /** The bot account's access token; null: nothing can be written. */
  readonly token: string | null;
}

/** A host of `HOSTS`: all but its token, which is a secret. */
type FurtherHost = Omit<HostConfig, 'token'>;

export const MAIN_HOST = 'gh';
export const GITHUB_URL = 'https://github.com';

/** Keys that other paths below `/v1/` use already. */
const RESERVED: ReadonlySet<string> = new Set([MAIN_HOST, 'delayed', 'moderation', 'pr']);
const KEY_PATTERN = /^[a-z][a-z0-9]{0,15}$/;
const FURTHER_KINDS: readonly HostKind[] = ['forgejo', 'gitea'];
const MAX_HOSTS = 20;

/**
 * `cb=forgejo:https://codeberg.org,my=gitea:https://…`. No two have one server name: records are
 * kept apart by it.
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

/** The hosts, or the number of the first entry that is wrong, counted from 1. */
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

type Hosts = { readonly hosts: readonly HostConfig[] };

/** Undefined: this service has no such host. */
export function hostWithKey({ hosts }: Hosts, key: string): HostConfig | undefined {
  return hosts.find((host) => host.key === key);
}

/** As messages name a host: `codeberg.org`. */
export function hostNameOf({ url }: Pick<HostConfig, 'url'>): string {
  return new URL(url).host;
}

/**
 * The page of a file, or a folder, on the default branch. Gitea and Forgejo take a path without a
 * branch.
 */
export function fileUrl({ url, kind }: HostConfig, repository: RepositoryName, path: string): string {
  return `${url}/${fullName(repository)}/${kind === 'github' ? 'blob/HEAD' : 'src'}/${encodeURI(path)}`;
}

/** The part of an address that names a repository here: `gh/octo/hello`. */
export function repositoryPath({ key }: Pick<HostConfig, 'key'>, repository: RepositoryName): string {
  return `${key}/${fullName(repository)}`;
}

/**
 * Tells repositories of all hosts apart: `octo/hello` (contract, 2.2), and `cb/octo/hello` on
 * another host.
 */
export function recordName({ key }: Pick<HostConfig, 'key'>, repository: RepositoryName): string {
  return key === MAIN_HOST ? fullName(repository) : repositoryPath({ key }, repository);
}
