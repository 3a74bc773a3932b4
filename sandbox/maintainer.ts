/**
 * Acts of upstream's maintainers, for tests and for people who try the service. The acts are real,
 * so a merge makes a merge commit in the bare repository, and they notify the bot.
 */
import { readRef } from './bare-repository.ts';
import { deleteRepository } from './delete-repository.ts';
import { mustRunGit, runGit } from './git-command.ts';
import type { Host } from './host.ts';
import type { Issue, PrivateReport, Repository, Review, ReviewRemark } from './records.ts';

/** Names an issue or pull request. */
export interface IssueName {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
}

/** Thrown if the host does not allow an act. The message says why. */
export class Impossible extends Error {}

export class Maintainer {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Opens an issue; answers its number. */
  openIssue(owner: string, repo: string, title: string, body: string): number {
    const repository = this.#repository(owner, repo);
    const author = this.#host.store.ensureUser(owner).login;
    return this.#host.addIssue(repository, { author, title, body, labels: [], pull: null }).number;
  }

  /** Comments on an issue or pull request; answers the comment's id. */
  comment(on: IssueName, body: string, as = on.owner): number {
    const { repository, issue } = this.#find(on);
    return this.#host.addComment(repository, issue, this.#host.store.ensureUser(as).login, body).id;
  }

  /** Changes what a comment says. */
  editComment(owner: string, repo: string, id: number, body: string): void {
    const placed = this.#host.store.findComment(this.#repository(owner, repo), id);
    if (!placed) throw new Impossible(`${owner}/${repo} has no comment ${id}`);
    this.#host.editComment(placed, body);
  }

  /** Lets an account belong to a repository. */
  addCollaborator(owner: string, repo: string, login: string): void {
    const repository = this.#repository(owner, repo);
    repository.collaborators = [...(repository.collaborators ?? []), login];
    this.#host.store.changed();
  }

  /**
   * Reviews a pull request; answers the review's id.
   * @param remarks comments on lines of files.
   */
  review(
    on: IssueName,
    state: Review['state'],
    body: string,
    as = on.owner,
    remarks: readonly Omit<ReviewRemark, 'id'>[] = [],
  ): number {
    const { repository, issue } = this.#find(on);
    if (!issue.pull) throw new Impossible(`#${on.number} is no pull request`);
    const author = this.#host.store.ensureUser(as).login;
    return this.#host.addReview(repository, issue, { author, state, body }, remarks).id;
  }

  /** Deletes anyone's comment. */
  deleteComment(owner: string, repo: string, id: number): void {
    const placed = this.#host.store.findComment(this.#repository(owner, repo), id);
    if (!placed) throw new Impossible(`${owner}/${repo} has no comment ${id}`);
    this.#host.removeComment(placed);
  }

  /** Closes an issue, or a pull request without merging it. */
  close(name: IssueName, as = name.owner): void {
    const { repository, issue } = this.#find(name);
    this.#host.setIssueState(repository, issue, 'closed', this.#host.store.ensureUser(as).login);
  }

  /** Locks a thread: from now on, only people with write access may comment. */
  lock(name: IssueName): void {
    this.#find(name).issue.locked = true;
    this.#host.store.changed();
  }

  /** Merges a pull request with a merge commit; answers its id. */
  async merge(name: IssueName, as = name.owner): Promise<string> {
    const { repository, issue } = this.#find(name);
    const { pull } = issue;
    if (!pull || issue.state === 'closed') throw new Impossible(`#${name.number} is no open pull request`);
    const path = this.#host.pathOf(repository);
    const head = this.#host.store.repositoryById(pull.headRepositoryId) ?? repository;
    const baseRef = `refs/heads/${pull.baseRef}`;
    const base = readRef(path, baseRef) ?? '';
    await this.#host.fetchPullHead(repository, issue);
    const merged = await runGit(path, ['merge-tree', '--write-tree', base, pull.headSha]);
    if (merged.code !== 0)
      throw new Impossible(`#${name.number} cannot be merged: ${merged.stdout.toString()}`);
    const tree = merged.stdout.toString().split('\n')[0] ?? '';
    const message = `Merge pull request #${issue.number} from ${head.owner}/${pull.headRef}\n\n${issue.title}\n`;
    const identity = this.#identity(this.#host.store.ensureUser(as).login);
    const parents = ['-p', base, '-p', pull.headSha];
    const commit = await mustRunGit(path, ['commit-tree', tree, ...parents], {
      input: message,
      env: identity,
    });
    const mergeCommitSha = commit.toString().trim();
    await mustRunGit(path, ['update-ref', baseRef, mergeCommitSha, base]);
    this.#host.setIssueState(repository, issue, 'closed', as);
    Object.assign(pull, { mergedAt: issue.closedAt, mergedBy: as, mergeCommitSha });
    return mergeCommitSha;
  }

  /**
   * Puts a commit of the maintainer's on top of a pull request's branch, as "Allow edits by
   * maintainers" permits; answers its id.
   * @param onto default: the tip of the branch.
   */
  async commitTo(name: IssueName, message: string, files: Readonly<Record<string, string>>, onto?: string) {
    const { issue } = this.#find(name);
    const head =
      issue.pull === null ? undefined : this.#host.store.repositoryById(issue.pull.headRepositoryId);
    if (issue.pull === null || head === undefined) throw new Impossible(`#${name.number} has no branch`);
    const branch = `refs/heads/${issue.pull.headRef}`;
    const path = this.#host.pathOf(head);
    const who = this.#identity(name.owner);
    const input = [
      `commit ${branch}`,
      `committer ${who['GIT_AUTHOR_NAME']} <${who['GIT_AUTHOR_EMAIL']}> ${who['GIT_AUTHOR_DATE']?.slice(1)}`,
      data(message),
      `from ${onto ?? `${branch}^0`}`,
      ...Object.entries(files).flatMap(([file, text]) => [`M 100644 inline ${file}`, data(text)]),
    ];
    await mustRunGit(path, ['fast-import', '--quiet', '--force'], { input: `${input.join('\n')}\n` });
    this.#host.refsPushed(head);
    return readRef(path, branch) ?? '';
  }

  /** Gives an issue or pull request these of the repository's labels, and removes all others. */
  setLabels(name: IssueName, labels: readonly string[]): void {
    const { repository, issue } = this.#find(name);
    issue.labels = repository.labels.filter((label) => labels.includes(label));
    issue.updatedAt = this.#host.store.timestamp();
    this.#host.store.changed();
  }

  /**
   * Commits a file to the default branch.
   * @param text `null` deletes the file.
   */
  async writeFile(owner: string, repo: string, file: string, text: string | null): Promise<void> {
    const repository = this.#repository(owner, repo);
    const path = this.#host.pathOf(repository);
    const branch = `refs/heads/${repository.defaultBranch}`;
    const seconds = Math.floor(this.#host.now().getTime() / 1000);
    const input = [
      `commit ${branch}`,
      `committer ${owner} <${owner}@users.noreply.localhost> ${seconds} +0000`,
      data(`${text === null ? 'Delete' : 'Write'} ${file}`),
      ...(readRef(path, branch) === undefined ? [] : [`from ${branch}^0`]),
      ...(text === null ? [`D ${file}`] : [`M 100644 inline ${file}`, data(text)]),
    ];
    await mustRunGit(path, ['fast-import', '--quiet'], { input: `${input.join('\n')}\n` });
    this.#host.refsPushed(repository);
  }

  /** Gives a repository another name. The old one redirects. */
  renameRepository(owner: string, repo: string, newName: string): void {
    this.#host.renameRepository(this.#repository(owner, repo), newName);
  }

  /** Switches private reports of vulnerabilities on or off. */
  takePrivateReports(owner: string, repo: string, isTaken: boolean): void {
    this.#repository(owner, repo).takesPrivateReports = isTaken;
    this.#host.store.changed();
  }

  /** Lists the private reports, which only maintainers see. */
  privateReports(owner: string, repo: string): readonly PrivateReport[] {
    return this.#repository(owner, repo).privateReports ?? [];
  }

  /** Archives a repository: from now on, nothing in it can be changed. */
  archive(owner: string, repo: string): void {
    this.#repository(owner, repo).archived = true;
    this.#host.store.changed();
  }

  /** Gives the bot's account another name. Its repositories redirect. */
  renameBot(login: string): void {
    this.#host.renameBot(login);
  }

  /** Deletes a repository, a fork or not. */
  async deleteFork(owner: string, name: string): Promise<void> {
    await deleteRepository(this.#host, this.#repository(owner, name));
  }

  /**
   * Takes a fork out of its parent's network. The parent and a pull request from the fork stay as
   * they are. GitHub does so if the visibility of the parent changes (docs.github.com, "What
   * happens to forks when a repository is deleted or changes visibility"), or if support is asked
   * to ("Detaching a fork").
   */
  detachFork(owner: string, name: string): void {
    this.#repository(owner, name).parentId = null;
    this.#host.store.changed();
  }

  /** Makes a repository visible to its owner only, or to everybody again. */
  setPrivate(owner: string, name: string, isPrivate: boolean): void {
    this.#repository(owner, name).private = isPrivate;
    this.#host.store.changed();
  }

  #identity(login: string): Record<string, string> {
    const email = `${login}@users.noreply.localhost`;
    const date = `@${Math.floor(this.#host.now().getTime() / 1000)} +0000`;
    return {
      GIT_AUTHOR_NAME: login,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: login,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: date,
    };
  }

  #repository(owner: string, name: string): Repository {
    const repository = this.#host.store.findRepository(owner, name);
    if (!repository) throw new Impossible(`there is no repository ${owner}/${name}`);
    return repository;
  }

  #find(name: IssueName): { repository: Repository; issue: Issue } {
    const repository = this.#repository(name.owner, name.repo);
    const issue = repository.issues[name.number - 1];
    if (!issue) throw new Impossible(`${name.owner}/${name.repo} has no #${name.number}`);
    return { repository, issue };
  }
}

/** Writes data in the format of git-fast-import(1). */
const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`;
