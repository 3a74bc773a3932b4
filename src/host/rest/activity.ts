/**
 * Reads from a code host what others do to the bot's pull requests: the account's notifications say which ones were
 * touched, and the pull request itself says how.
 *
 * Nothing is written, and no notification is marked as read: the operator may use the same account in a browser, so the
 * feed is asked for both read and unread ones. Nothing is retried: the caller comes back in a minute.
 */
import type { Octokit } from '@octokit/rest';
import { parseRepositoryName, type RepositoryName } from '../../repository-name.ts';
import type {
  Account,
  ActivityCall,
  ActivityHost,
  Conversation,
  Feed,
  FeedThread,
  MovedThread,
  PullRequestState,
  Remark,
  Repository,
} from '../code-host.ts';
import { systemClock } from '../../isolate/clock.ts';
import { isKnownPublic } from '../git/visibility.ts';
import { expectAddress, expectNumber, expectThread } from './answer.ts';
import { openOctokit, type RestAccess, type RestCalls } from './octokit.ts';
import { type AnsweredRemark, readAccount, type ReadDialect, type ThreadPlace } from './reads.ts';
import { unlessMissing } from './unless-missing.ts';

const TIMEOUT_MS = 10_000;

/** How one kind of host is asked. Moments are those of this module. */
export interface ActivityDialect extends ReadDialect {
  feed(
    octokit: Octokit,
    since: string,
    ifModifiedSince: string | null,
    wantsMore: (page: readonly FeedThread[]) => boolean,
  ): Promise<Feed>;
  reviews(octokit: Octokit, place: ThreadPlace): Promise<readonly AnsweredReview[]>;
  conversation(octokit: Octokit, place: ThreadPlace): Promise<Conversation | MovedThread | null>;
}

export class RestActivity implements ActivityHost {
  /** Nothing is tried again. */
  readonly #calls: RestCalls;
  readonly #dialect: ActivityDialect;

  /** @param beforeCall is told of each call, further pages included; what it throws comes instead of the call. */
  constructor(access: RestAccess, dialect: ActivityDialect, beforeCall: (call: ActivityCall) => void) {
    const octokit = openOctokit(access, TIMEOUT_MS);
    this.#calls = { octokit, apiUrl: access.apiUrl, clock: systemClock, retried: made, once: made };
    this.#dialect = dialect;
    octokit.hook.before('request', ({ url }) => beforeCall(activityCall(url)));
  }

  async account(): Promise<Account> {
    return readAccount(this.#dialect, this.#calls.octokit);
  }

  async feed(
    since: number,
    ifModifiedSince: string | null,
    wantsMore: (page: readonly FeedThread[]) => boolean,
  ): Promise<Feed> {
    return this.#dialect.feed(this.#calls.octokit, moment(since), ifModifiedSince, wantsMore);
  }

  async pullRequest(repository: RepositoryName, number: number): Promise<PullRequestState | null> {
    return unlessMissing(async () => {
      const pull = await this.#dialect.pull(this.#calls.octokit, placeOf(repository, number));
      return {
        number: expectNumber(pull.number),
        url: expectAddress(pull.html_url),
        authorId: pull.user?.id ?? null,
        branch: pull.branch,
        ...(pull.branch === null && { id: expectNumber(pull.id) }),
        mergedAt: pull.merged_at,
        closedAt: pull.closed_at,
      };
    });
  }

  async remarks(
    repository: RepositoryName,
    number: number,
    since: number,
  ): Promise<readonly Remark[] | null> {
    const place = placeOf(repository, number);
    const from = moment(since);
    return unlessMissing(async () => {
      const [comments, reviews] = await Promise.all([
        this.#dialect.comments(this.#calls.octokit, place, from),
        this.#dialect.reviews(this.#calls.octokit, place),
      ]);
      return remarksSince(from, comments, reviews);
    });
  }

  async conversation(repository: RepositoryName, number: number): Promise<Conversation | MovedThread | null> {
    return unlessMissing(async () => {
      const isKnown = isKnownPublic(this.#calls.apiUrl, repository, systemClock.now());
      // The bot may see more than the public.
      if (!isKnown && (await this.#lookUp(repository)).isPrivate) return null;
      const found = await this.#dialect.conversation(this.#calls.octokit, placeOf(repository, number));
      if (found === null || !('movedTo' in found)) return found;
      const to = expectThread(found.movedTo);
      const [here, there] = await Promise.all([this.#lookUp(repository), this.#lookUp(to.repository)]);
      if (there.isPrivate) return null;
      // The host redirects from where a repository was renamed, too.
      if (here.id !== there.id) return found;
      const renamed = await this.#dialect.conversation(this.#calls.octokit, placeOf(there, to.index));
      return renamed !== null && 'movedTo' in renamed ? null : renamed;
    });
  }

  #lookUp(name: RepositoryName): Promise<Repository> {
    return this.#dialect.lookUp(this.#calls, name);
  }
}

function placeOf({ owner, name }: RepositoryName, number: number): ThreadPlace {
  return { owner, repo: name, index: number };
}

function made<T>(call: () => Promise<T>): Promise<T> {
  return call();
}

/** By the last word of the path; that of a pull request ends with its number, or with the name of that parameter. */
const CALLS: Readonly<Record<string, ActivityCall>> = {
  notifications: 'feed',
  user: 'account',
  comments: 'comments',
  reviews: 'reviews',
};

/** What a call is made for. @param url a template, or the address of a further page. */
function activityCall(url: string): ActivityCall {
  const [path = ''] = url.split('?', 1);
  return CALLS[path.slice(path.lastIndexOf('/') + 1)] ?? 'pull_request';
}

/** An entry of the feed, as far as it can be relied on. */
interface AnsweredEntry {
  readonly id?: string | number | null;
  readonly subject?: { readonly type?: string; readonly url?: string | null } | null;
  readonly repository?: { readonly name?: string; readonly owner?: { readonly login?: string } } | null;
  readonly updated_at?: string | null;
}

/**
 * The pull request that an entry is about, as a list of one; empty for one about anything else, or that does not say what
 * it is about: it must not hide the others.
 * @param type as the host calls pull requests here. @throws TypeError if it is no entry of a feed at all
 */
export function pullRequestThread(entry: AnsweredEntry, type: string, isByBot: boolean): FeedThread[] {
  const { id, subject, repository: named, updated_at } = entry;
  if (subject === undefined && named === undefined) throw new TypeError('the host lists something else');
  const number = Number(/\/(?:issues|pulls)\/(\d+)$/.exec(subject?.url ?? '')?.[1]);
  const updatedAt = Date.parse(updated_at ?? '');
  const repository = parseRepositoryName(named?.owner?.login ?? '', named?.name ?? '');
  const isUsable = subject?.type === type && (id ?? '') !== '' && !Number.isNaN(number + updatedAt);
  return isUsable && repository !== null ? [{ id: String(id), isByBot, repository, number, updatedAt }] : [];
}

/** A moment as hosts compare it: ISO 8601, in whole seconds. @param ms milliseconds since 1970. */
function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Every remark on a line of code belongs to a review, even if it is the only one in it. */
type AnsweredReview = AnsweredRemark & { readonly submitted_at?: string; readonly state?: string };

/** Of GitHub, and of Gitea (its `ReviewStateType`) where that differs. */
const VERDICTS: Readonly<Record<string, Remark['kind']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  REQUEST_CHANGES: 'changes-requested',
};

/** @throws TypeError for fields of another shape */
function remarksSince(
  since: string,
  comments: Awaited<ReturnType<ReadDialect['comments']>>,
  reviews: readonly AnsweredReview[],
): readonly Remark[] {
  const remarks = [
    ...comments.map((comment) => toRemark('comment', comment, comment.created_at)),
    ...reviews.map((review) => ({
      ...toRemark('review', review, review.submitted_at ?? ''),
      kind: VERDICTS[review.state ?? ''] ?? 'reviewed',
    })),
  ];
  // An old comment that was edited is no news.
  return remarks.filter(({ at }) => !(Date.parse(at) < Date.parse(since)));
}

function toRemark(
  kind: 'comment' | 'review',
  { id, user, html_url, body }: AnsweredRemark,
  at: string,
): Remark {
  return {
    key: `${kind}:${expectNumber(id)}`,
    authorId: user?.id ?? null,
    url: expectAddress(html_url),
    at,
    kind: 'commented',
    text: body ?? '',
  };
}
