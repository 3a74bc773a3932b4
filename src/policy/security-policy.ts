/**
 * Reads what a repository says of vulnerabilities: its SECURITY.md, or that of its owner's
 * repository for such files (docs.github.com, "Creating a default community health file"); and
 * whether it takes private reports through this service.
 */
import type { HostConfig } from '../config/hosts.ts';
import { decodeUtf8 } from '../git/bytes.ts';
import { OWNERS_REPOSITORY } from '../host/kinds.ts';
import type { Http } from '../outgoing/http-client.ts';
import { HostError } from '../words/host-error.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { type FilesHost, securityPath } from './community-files.ts';
import { nothingAccepted, type Policy, policyRefusal, stopSentence } from './policy.ts';
import { withPublicFiles } from './public-files.ts';

/** How much of the file a page shows. */
const MAX_SHOWN_CHARACTERS = 16 * 1024;

export interface SecurityFile {
  readonly kind: 'file';
  readonly repository: RepositoryName;
  readonly path: string;
  readonly text: string;
  /** True if the file is longer than the text. */
  readonly isCut: boolean;
}

/** `unknown`: the file cannot be read now, or is no text. */
export type SecurityPolicy = SecurityFile | { readonly kind: 'none' | 'unknown' };

/**
 * Reads the file as the public sees it, without calls of the account. It is not cached, because a
 * faster page would tell that somebody has just opened it. Never rejects.
 */
export async function securityPolicyOf(
  host: Pick<HostConfig, 'kind' | 'url'>,
  repository: RepositoryName,
  http: Http,
): Promise<SecurityPolicy> {
  const owners = { owner: repository.owner, name: OWNERS_REPOSITORY[host.kind] };
  const read = (name: RepositoryName) =>
    withPublicFiles(host, http, name, (files) => securityFileIn(files, name));
  try {
    const own = await read(repository);
    return own.kind === 'none' ? await read(owners) : own;
  } catch (error) {
    // Most owners have no such repository.
    return { kind: error instanceof HostError && error.code === 'missing' ? 'none' : 'unknown' };
  }
}

export async function securityFileIn(files: FilesHost, repository: RepositoryName): Promise<SecurityPolicy> {
  const path = await securityPath(files);
  if (path === null) return { kind: 'none' };
  const file = await files.file(path);
  const text = file.kind === 'file' ? decodeUtf8(file.content) : null;
  if (text === null) return { kind: 'unknown' };
  const shown = text.slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
  return { kind: 'file', repository, path, text: shown, isCut: text.length > MAX_SHOWN_CHARACTERS };
}

/**
 * Says in a sentence why a repository gets no private report; null: its policy allows one. A list
 * of what it accepts does not matter, because such reports have a switch of their own at the host.
 * Who accepts nothing from this service gets nothing.
 */
export function reportRefusal(policy: Policy, to: RepositoryName): string | null {
  const { accepted, problem, stoppedAt, community } = policy;
  if (stoppedAt !== undefined) return stopSentence(to, stoppedAt);
  if (problem !== null) return policyRefusal(policy, to, 'issues');
  if (accepted.length === 0) return nothingAccepted(to, policy);
  const { kind, path } = community.standing ?? {};
  return kind === 'denounced' ? `${fullName(to)} takes nothing of the bot: its ${path} denounces it.` : null;
}
