/** The kinds of code hosts, and what names each gives to repositories. What else differs is behind `open.ts`. */
import { parseForgejoName } from './forgejo/names.ts';
import { parseRepositoryName, type RepositoryName } from '../repository-name.ts';

export type HostKind = 'github' | 'forgejo' | 'gitea';

/** A repository's name as such a host may have given it, with or without `.git` behind it; null for any other. */
export function parseName(kind: HostKind, owner: string, repository: string): RepositoryName | null {
  return kind === 'github' ? parseRepositoryName(owner, repository) : parseForgejoName(owner, repository);
}
