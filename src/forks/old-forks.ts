/**
 * Deletes the bot's forks that no pull request has needed for long: a host allows an account so many repositories.
 *
 * The list in D1 only says where to look. What counts is what the host says: the repository is the bot's fork of that
 * very repository; the bot has no open pull request in any repository that a branch of the fork was proposed to, and had
 * none since; and the fork was neither made nor pushed to since. Whatever is not known for sure keeps it.
 *
 * A push that begins between the last question and the deletion, some milliseconds later, finds that the fork is gone, and
 * makes another one. To lock the fork would cost every push a call.
 *
 * Cost: two to three calls for a fork that is in use, once in the time that forks are kept; six for one that is deleted.
 */
import type { Ref } from '../git/wire/ref-advertisement.ts';
import type { Account, Repository, RepositoryHost } from '../host/code-host.ts';
import type { GitTransport } from '../host/git/git-transport.ts';
import { HostError } from '../host-error.ts';
import { prHashOf, workBranch } from '../pr-hash.ts';
import { fullName, parseRepositoryName, type RepositoryName } from '../repository-name.ts';
import { forkIsUsed, type ListedFork, listedForks, repositoriesOf, unlistFork } from '../stats/fork-list.ts';

/** With the calls of each, at most some 1,100 an hour. So 40,000 forks take nine days. */
const FORKS_PER_RUN = 3;
/** One that cannot be examined, or deleted, must not keep the others waiting. */
const RETRY_MS = 24 * 60 * 60 * 1000;
const WORK_BRANCHES = `refs/heads/${workBranch('')}`;

export interface OldForks {
  readonly db: D1Database;
  /** The key of the code host. */
  readonly hostKey: string;
  readonly host: RepositoryHost;
  readonly transport: Pick<GitTransport, 'listRefs'>;
  /** How long a fork is kept, in milliseconds. */
  readonly lifeMs: number;
  /** Whether a push that opens a pull request there has begun within the hour. */
  readonly isPushedTo: (repository: RepositoryName) => Promise<boolean>;
}

export interface Deletion {
  /** What forks were deleted of. */
  readonly of: readonly RepositoryName[];
  /** Why the host deletes none; null: it does not refuse. */
  readonly refusal: HostError | null;
}

type Use =
  | { readonly kind: 'used'; readonly at: number }
  /** There is no such fork, or it is another repository. */
  | { readonly kind: 'none' }
  | { readonly kind: 'old'; readonly fork: RepositoryName; readonly of: RepositoryName };

/** Looks at a few forks. Rejects with the first failure. @param now milliseconds since 1970. */
export async function deleteOldForks(settings: OldForks, now: number): Promise<Deletion> {
  const { db, hostKey, host, lifeMs } = settings;
  const before = now - lifeMs;
  const listed = await listedForks(db, hostKey, before, FORKS_PER_RUN);
  const bot = listed.length === 0 ? null : await host.account();
  const of: RepositoryName[] = [];
  for (const entry of listed) {
    const { repository } = entry;
    const use = await useOf(settings, entry, bot as Account, now).catch(async (error: unknown) => {
      await forkIsUsed(db, repository, before + RETRY_MS);
      throw error;
    });
    if (use.kind === 'used') {
      await forkIsUsed(db, repository, Math.min(use.at, now));
      continue;
    }
    if (use.kind === 'old') {
      const refusal = await refusalOf(host, use.fork);
      if (refusal !== null) {
        await forkIsUsed(db, repository, before + RETRY_MS);
        return { of, refusal };
      }
      of.push(use.of);
    }
    await unlistFork(db, repository);
  }
  return { of, refusal: null };
}

async function useOf(
  { db, host, transport, lifeMs, isPushedTo }: OldForks,
  { repository: record, prHash, recordedAt }: ListedFork,
  bot: Account,
  now: number,
): Promise<Use> {
  const since = now - lifeMs;
  const name = nameOf(record);
  if (prHash === null || recordedAt === null || name === null) return { kind: 'none' };
  if (recordedAt > since) return { kind: 'used', at: recordedAt };
  const repository = await unlessMissing(host.repository(name));
  // It may come back.
  if (repository === null) return { kind: 'used', at: now };
  const head = { fork: { owner: bot.login, name: name.name }, branch: workBranch(prHash) };
  const pullRequest = await host.findPullRequest(repository, head);
  if (pullRequest?.isOpen) return { kind: 'used', at: now };
  const fork = pullRequest?.fork ?? null;
  if (fork === null) return { kind: 'none' };
  const list = await unlessMissing(transport.listRefs(fork, ['HEAD', WORK_BRANCHES], 'bot'));
  if (list === null) return { kind: 'none' };
  const isWhole = list.headTip !== null && list.hasAllBranches;
  const targets = isWhole ? await targetsOf(db, list.refs, repository) : null;
  if (targets === null) return { kind: 'used', at: now };
  for (const target of targets) {
    const at = (await unlessMissing(host.lastOpenPullRequest(target, bot))) ?? now;
    if (at > since) return { kind: 'used', at };
  }
  const usedAt = await unlessMissing(host.forkUsedAt(fork, repository, bot));
  if (usedAt === null) return { kind: 'none' };
  if (usedAt > since) return { kind: 'used', at: usedAt };
  // Last of all: a push says so before it asks whether there is a fork.
  return (await isPushedTo(repository)) ? { kind: 'used', at: now } : { kind: 'old', fork, of: repository };
}

/**
 * Where a fork's branches were proposed. Where forks share their objects, that may be any repository of the network. Null:
 * of some branch it is not known.
 */
async function targetsOf(
  db: D1Database,
  branches: readonly Ref[],
  repository: Repository,
): Promise<Iterable<RepositoryName> | null> {
  const prHashes = branches.flatMap(({ name }) => prHashOf(name.slice('refs/heads/'.length)) ?? []);
  const targets = new Map<string, RepositoryName>([[fullName(repository).toLowerCase(), repository]]);
  for (const record of (await repositoriesOf(db, prHashes)) ?? [null]) {
    const target = record === null ? null : nameOf(record);
    if (target === null) return null;
    targets.set(fullName(target).toLowerCase(), target);
  }
  return targets.values();
}

/** Of an entry of the list. */
function nameOf(record: string): RepositoryName | null {
  const [name = '', owner = ''] = record.split('/').toReversed();
  return parseRepositoryName(owner, name);
}

/** What the host has said instead of deleting it; null: it is deleted. */
async function refusalOf(host: RepositoryHost, fork: RepositoryName): Promise<HostError | null> {
  try {
    await host.deleteFork(fork);
    return null;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === 'refused') return error;
    if (error.code !== 'missing') throw error;
    // Another way to say no, or an earlier attempt has deleted it, and its answer was lost.
    return (await unlessMissing(host.repository(fork))) === null ? null : error;
  }
}

async function unlessMissing<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof HostError && error.code === 'missing') return null;
    throw error;
  });
}
