/**
 * The state that all parts of the code host share: its addresses, its clock, its bot account, its
 * records and the folder of its bare repositories. Actions that several parts need, such as making
 * a repository or notifying the bot, are here, too.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { Apps } from './apps.ts';
import { initBareRepository, readRefs } from './bare-repository.ts';
import { mustRunGit } from './git-command.ts';
import { notifyBot } from './notify-bot.ts';
import type { Comment, Issue, Pull, Repository, Review, ReviewRemark, User } from './records.ts';
import type { PlacedComment, Store } from './store.ts';
import { type Deed, Webhooks } from './webhooks.ts';

export interface HostSettings {
  readonly url: string;
  readonly repositoriesDir: string;
  readonly store: Store;
  readonly botLogin: string;
  readonly botToken: string;
  /** Password with which everyone but the bot may act under a login; `null`: nobody may. */
  readonly maintainerPassword: string | null;
  /** Scopes of the bot's token, a classic one. */
  readonly botScopes: readonly string[];
  readonly forkDelayMs: number;
  /** Seconds between two reads of the notifications. */
  readonly pollSeconds: number;
  readonly now: () => Date;
}

export interface NewRepository {
  readonly owner: string;
  readonly name: string;
  /** Default: `main`. */
  readonly defaultBranch?: string;
  readonly private?: boolean;
  readonly archived?: boolean;
  readonly pullRequests?: Repository['pullRequests'];
  readonly pullRequestCap?: number;
  /** Names of the labels that issues can carry; others are ignored. */
  readonly labels?: readonly string[];
  /** Size to report, in KB, in place of the measured one. */
  readonly sizeKb?: number;
  /** Default: false, as on GitHub. */
  readonly takesPrivateReports?: boolean;
}

export type NewIssue = Pick<Issue, 'author' | 'title' | 'body' | 'labels' | 'pull'>;

export class Host {
  readonly url: string;
  readonly apiUrl: string;
  readonly repositoriesDir: string;
  readonly store: Store;
  readonly bot: User;
  readonly botToken: string;
  readonly maintainerPassword: string | null;
  readonly botScopes: readonly string[];
  readonly forkDelayMs: number;
  readonly pollSeconds: number;
  readonly now: () => Date;
  readonly apps: Apps;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #turns = new Map<number, Promise<void>>();

  constructor(settings: HostSettings) {
    this.url = settings.url;
    this.apiUrl = `${settings.url}/api/v3`;
    this.repositoriesDir = settings.repositoriesDir;
    this.store = settings.store;
    this.bot = settings.store.ensureUser(settings.botLogin);
    this.botToken = settings.botToken;
    this.maintainerPassword = settings.maintainerPassword;
    this.botScopes = settings.botScopes;
    this.forkDelayMs = settings.forkDelayMs;
    this.pollSeconds = settings.pollSeconds;
    this.now = settings.now;
    const webhooks = new Webhooks();
    this.apps = new Apps(settings.store, webhooks, settings.now);
    webhooks.attach(this);
  }

  /** Path of a repository's bare Git repository. */
  pathOf(repository: Pick<Repository, 'owner' | 'name'>): string {
    return join(this.repositoriesDir, repository.owner, `${repository.name}.git`);
  }

  /** Makes an empty repository, on disk and in the records. */
  createRepository(wanted: NewRepository, parent: Repository | null = null): Repository {
    const owner = this.store.ensureUser(wanted.owner).login;
    if (this.store.findRepository(owner, wanted.name)) {
      throw new Error(`the repository ${owner}/${wanted.name} exists already`);
    }
    const createdAt = this.store.timestamp();
    const repository: Repository = {
      id: this.store.nextId(),
      createdAt,
      private: wanted.private ?? false,
      parentId: parent?.id ?? null,
      owner,
      name: wanted.name,
      defaultBranch: wanted.defaultBranch ?? 'main',
      archived: wanted.archived ?? false,
      pullRequests: wanted.pullRequests ?? 'all',
      pullRequestCap: wanted.pullRequestCap ?? null,
      ready: parent === null,
      reportedSizeKb: wanted.sizeKb ?? null,
      updatedAt: createdAt,
      pushedAt: createdAt,
      formerNames: [],
      labels: [...(wanted.labels ?? ['bug', 'documentation', 'enhancement'])],
      takesPrivateReports: wanted.takesPrivateReports ?? false,
      issues: [],
    };
    rmSync(this.pathOf(repository), { recursive: true, force: true });
    initBareRepository(this.pathOf(repository), repository.defaultBranch);
    this.store.addRepository(repository);
    return repository;
  }

  /** Adds an issue, or a pull request when it has a `pull` part. */
  addIssue(repository: Repository, wanted: NewIssue): Issue {
    const createdAt = this.store.timestamp();
    const issue: Issue = {
      ...wanted,
      id: this.store.nextId(),
      number: repository.issues.length + 1,
      createdAt,
      state: 'open',
      stateReason: null,
      updatedAt: createdAt,
      closedAt: null,
      closedBy: null,
      comments: [],
    };
    repository.issues.push(issue);
    this.store.changed();
    this.threadChanged(repository, issue, 'opened', issue.author);
    return issue;
  }

  /** Adds a comment, and notifies the bot if it is the thread's author or is mentioned. */
  addComment(repository: Repository, issue: Issue, author: string, body: string): Comment {
    const createdAt = this.store.timestamp();
    const comment = { id: this.store.nextId(), author, createdAt, body, updatedAt: createdAt };
    issue.comments.push(comment);
    issue.updatedAt = createdAt;
    notifyBot(this, repository, issue, author, comment);
    this.#happened({ event: 'issue_comment', action: 'created', actor: author, repository, issue, comment });
    this.store.changed();
    return comment;
  }

  /** Adds a review of a pull request, and notifies the bot if it is the author. */
  addReview(
    repository: Repository,
    issue: Issue,
    review: Pick<Review, 'author' | 'state' | 'body'>,
    remarks: readonly Omit<ReviewRemark, 'id'>[],
  ): Review {
    const submittedAt = this.store.timestamp();
    const added: Review = {
      ...review,
      id: this.store.nextId(),
      repositoryId: repository.id,
      issueNumber: issue.number,
      commitId: issue.pull?.headSha ?? '',
      submittedAt,
      remarks: remarks.map((remark) => ({ ...remark, id: this.store.nextId() })),
    };
    this.store.records.reviews.push(added);
    issue.updatedAt = submittedAt;
    notifyBot(this, repository, issue, review.author, null);
    const { author: actor } = review;
    this.#happened({
      event: 'pull_request_review',
      action: 'submitted',
      actor,
      repository,
      issue,
      review: added,
    });
    this.store.changed();
    return added;
  }

  removeComment(placed: PlacedComment): void {
    const { issue, comment } = placed;
    issue.comments.splice(issue.comments.indexOf(comment), 1);
    this.store.changed();
    this.#commentChanged(placed, 'deleted');
  }

  editComment(placed: PlacedComment, body: string): void {
    Object.assign(placed.comment, { body, updatedAt: this.store.timestamp() });
    this.store.changed();
    this.#commentChanged(placed, 'edited');
  }

  /** Tells the App, where it is installed, what has become of an issue or a pull request. */
  threadChanged(repository: Repository, issue: Issue, action: string, actor: string): void {
    this.#happened({ event: issue.pull ? 'pull_request' : 'issues', action, actor, repository, issue });
  }

  #commentChanged(placed: PlacedComment, action: string): void {
    this.#happened({ event: 'issue_comment', action, actor: placed.comment.author, ...placed });
  }

  #happened(deed: Deed): void {
    this.apps.webhooks.happened(deed);
  }

  /**
   * Gives a repository another name, on disk too. Calls and clones by the old name are redirected.
   */
  renameRepository(repository: Repository, name: string): void {
    const formerPath = this.pathOf(repository);
    this.store.renameRepository(repository, name);
    renameSync(formerPath, this.pathOf(repository));
    this.#happened({ event: 'repository', action: 'renamed', actor: repository.owner, repository });
  }

  /**
   * Gives the bot's account another name, and so its repositories. Calls and clones by the old
   * names are redirected.
   */
  renameBot(login: string): void {
    const former = this.bot.login;
    const { repositories } = this.store.records;
    const owned = repositories.filter(({ owner }) => owner === former);
    mkdirSync(join(this.repositoriesDir, login), { recursive: true });
    for (const repository of owned) {
      const formerPath = this.pathOf(repository);
      this.store.renameRepository(repository, repository.name, login);
      renameSync(formerPath, this.pathOf(repository));
    }
    for (const { issues } of repositories) {
      for (const issue of issues) if (issue.author === former) issue.author = login;
    }
    this.bot.login = login;
  }

  /** Closes or reopens an issue or pull request; a merged one stays closed. */
  setIssueState(repository: Repository, issue: Issue, state: Issue['state'], actor: string): void {
    if (issue.state === state || (issue.pull && issue.pull.mergedAt !== null)) return;
    const now = this.store.timestamp();
    const closed = state === 'closed';
    Object.assign(issue, {
      state,
      stateReason: issue.pull ? null : closed ? 'completed' : 'reopened',
      closedAt: closed ? now : null,
      closedBy: closed ? actor : null,
      updatedAt: now,
    });
    notifyBot(this, repository, issue, actor, null);
    this.threadChanged(repository, issue, closed ? 'closed' : 'reopened', actor);
    this.store.changed();
  }

  /**
   * Runs one action at a time on a repository, because git would refuse the second of two
   * simultaneous ones.
   */
  inTurn<Result>(repository: Repository, action: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(repository.id) ?? Promise.resolve();
    const turn = before.then(action);
    this.#turns.set(
      repository.id,
      turn.then(
        () => undefined,
        () => undefined,
      ),
    );
    return turn;
  }

  /**
   * Brings `refs/pull/<number>/head` of a repository to the head of that pull request, where GitHub
   * has it. Does so only on demand, because nobody reads most of these refs.
   */
  async fetchPullHead(repository: Repository, { number, pull }: Issue): Promise<void> {
    const head = pull === null ? undefined : this.store.repositoryById(pull.headRepositoryId);
    if (pull === null || head === undefined) return;
    const refspec = `+${pull.headSha}:refs/pull/${number}/head`;
    const args = ['fetch', '--quiet', '--no-auto-maintenance', this.pathOf(head), refspec];
    await mustRunGit(this.pathOf(repository), args);
  }

  /** Does something after a while, unless the host is closed by then. */
  later(delayMs: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, delayMs);
    this.#timers.add(timer);
  }

  /** Forgets all actions of `later`. */
  stopTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /**
   * Updates open pull requests after a push or a REST call has changed refs of a repository. Those
   * from its branches follow their head, and one whose head is gone is closed, as on GitHub.
   * Nothing in an archived repository changes.
   */
  refsPushed(repository: Repository): void {
    repository.pushedAt = this.store.timestamp();
    let refs: ReadonlyMap<string, string> | null = null;
    for (const { upstream, issue, pull } of this.#openPullsFrom(repository)) {
      // All at once, because a fork may have thousands of pull requests.
      refs ??= readRefs(this.pathOf(repository));
      const oid = refs.get(`refs/heads/${pull.headRef}`);
      if (oid === pull.headSha) continue;
      issue.updatedAt = repository.pushedAt;
      if (oid === undefined) Object.assign(issue, { state: 'closed', closedAt: repository.pushedAt });
      else pull.headSha = oid;
      this.threadChanged(upstream, issue, oid === undefined ? 'closed' : 'synchronize', repository.owner);
    }
    this.store.changed();
  }

  *#openPullsFrom(head: Repository): Generator<{ upstream: Repository; issue: Issue; pull: Pull }> {
    for (const repository of this.store.records.repositories) {
      for (const issue of repository.issues) {
        const { pull } = issue;
        if (issue.state === 'open' && !repository.archived && pull?.headRepositoryId === head.id)
          yield { upstream: repository, issue, pull };
      }
    }
  }

  /** Whether the account can see the repository: only its owner sees a private one. */
  canRead(viewer: User | null, repository: Repository): boolean {
    return !repository.private || viewer?.login === repository.owner;
  }
}
