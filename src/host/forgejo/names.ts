/**
 * The names that Gitea and Forgejo give to accounts and repositories (models/user/user.go, models/repo/repo.go,
 * modules/validation/helpers.go). A name outside these rules is an address of something else there: `/api/…`,
 * `/<owner>.keys`, `/<owner>/<repository>.wiki`.
 */
import { parseRepositoryName, type RepositoryName } from '../../repository-name.ts';

const OWNER_PATTERN = /^[A-Za-z0-9](?!.*[._-]{2})(?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const MAX_OWNER_LENGTH = 40;
const RESERVED_OWNERS = new Set(
  (
    '.well-known api assets attachments avatar avatars captcha explore favicon.ico forgejo-actions ghost ' +
    'gitea-actions issues login manifest.json metrics milestones notifications org pulls repo repo-avatars robots.txt sitemap.xml ssh_info ' +
    'swagger.v1.json user v2'
  ).split(' '),
);
const RESERVED_OWNER_ENDINGS = ['.keys', '.gpg', '.rss', '.atom', '.png'];

const RESERVED_REPOSITORY_ENDINGS = ['.wiki', '.git', '.rss', '.atom'];

/** A repository's name, with or without `.git` behind it; null if there can be none of that name. */
export function parseForgejoName(owner: string, repository: string): RepositoryName | null {
  const parsed = parseRepositoryName(owner, repository);
  return parsed !== null && isOwner(parsed.owner) && isRepository(parsed.name) ? parsed : null;
}

function isOwner(name: string): boolean {
  return (
    OWNER_PATTERN.test(name) &&
    name.length <= MAX_OWNER_LENGTH &&
    !RESERVED_OWNERS.has(name.toLowerCase()) &&
    !endsWithAny(name, RESERVED_OWNER_ENDINGS)
  );
}

function isRepository(name: string): boolean {
  return name !== '-' && !endsWithAny(name, RESERVED_REPOSITORY_ENDINGS);
}

function endsWithAny(name: string, endings: readonly string[]): boolean {
  return endings.some((ending) => name.toLowerCase().endsWith(ending));
}
