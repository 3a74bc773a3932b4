/**
 * Lists the kinds of code hosts, and checks names of accounts and repositories by their rules.
 * Proved by test/host/forgejo/names.test.ts.
 */
import { parseRepositoryName, type RepositoryName } from '../words/repository-name.ts';

export type HostKind = 'github' | 'forgejo' | 'gitea';

/**
 * The repository in which an owner puts files for all of their repositories (docs.github.com,
 * "Creating a default community health file"; docs.gitea.com, "Profile READMEs").
 */
export const OWNERS_REPOSITORY: Readonly<Record<HostKind, string>> = {
  github: '.github',
  forgejo: '.profile',
  gitea: '.profile',
};

/**
 * Words for how bad a vulnerability is (docs.github.com/rest, "Privately report a vulnerability").
 */
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Where packages come from (there). `other`: from none of them. */
export const ECOSYSTEMS = [
  'other',
  'actions',
  'composer',
  'erlang',
  'go',
  'maven',
  'npm',
  'nuget',
  'pip',
  'pub',
  'rubygems',
  'rust',
  'swift',
] as const;
export type Ecosystem = (typeof ECOSYSTEMS)[number];

/**
 * Parses a repository's name, with or without `.git` at its end.
 * @returns null if such a host gives no such name.
 */
export function parseName(kind: HostKind, owner: string, repository: string): RepositoryName | null {
  const parsed = parseRepositoryName(owner, repository);
  if (parsed === null || kind === 'github') return parsed;
  return isGiteaOwner(parsed.owner) && isGiteaRepository(parsed.name) ? parsed : null;
}

/**
 * Matches owners' names of Gitea and Forgejo (models/{user/user,repo/repo}.go,
 * modules/validation/helpers.go). `/api/…` is no repository there.
 */
const OWNER_PATTERN = /^[A-Za-z0-9](?!.*[._-]{2})(?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const MAX_OWNER_LENGTH = 40;
const RESERVED_OWNERS = new Set(
  (
    '.well-known api assets attachments avatar avatars captcha explore favicon.ico forgejo-actions ghost ' +
    'gitea-actions issues login manifest.json metrics milestones notifications org pulls repo repo-avatars robots.txt sitemap.xml ssh_info ' +
    'swagger.v1.json user v2'
  ).split(' '),
);
const RESERVED_OWNER_ENDING = /\.(?:keys|gpg|rss|atom|png)$/i;
const RESERVED_REPOSITORY_ENDING = /\.(?:wiki|git|rss|atom)$/i;

function isGiteaOwner(name: string): boolean {
  const isReserved = RESERVED_OWNERS.has(name.toLowerCase()) || RESERVED_OWNER_ENDING.test(name);
  return OWNER_PATTERN.test(name) && name.length <= MAX_OWNER_LENGTH && !isReserved;
}

function isGiteaRepository(name: string): boolean {
  return name !== '-' && !RESERVED_REPOSITORY_ENDING.test(name);
}
