/**
 * Opens pull requests by a push to `refs/for/<base>` (AGit flow). `services/agit/agit.go` of Gitea
 * 1.26 and of Forgejo: the base, the topic and the login of the pusher name the pull request. The
 * open one of a topic is updated; without one, a new one opens. Title and description count only
 * for a new one; an empty one is replaced by the newest commit's.
 * Proved by test/host/forgejo/repositories.test.ts and test/forgejo/host-contract.test.ts.
 */
import type { Oid } from '../../git/objects/oid.ts';
import { unlessMissing } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { AgitRequest, Head, HostPullRequest, PullRequestPlace, Source } from '../code-host.ts';
import { expectList, expectNumber, expectText } from './answer.ts';
import { type AnsweredPull, placeOf, readPull } from './reads.ts';
import { RestRepositories } from './repositories.ts';

/**
 * Matches titles of drafts: the default of `WORK_IN_PROGRESS_PREFIXES` in a server's app.ini, in
 * any case.
 */
const DRAFT_TITLE = /^(?:WIP:|\[WIP\])/i;
/** Prefix of an encoded value. Options have one line, so several lines must be encoded. */
const ENCODED = '{base64}';
/**
 * Maximum length of a description in an option. An option is a pkt-line, and base64 takes a third
 * more. A longer one follows by REST.
 */
const MAX_DESCRIPTION_BYTES = 40_000;

const PULLS = 'GET /repos/{owner}/{repo}/pulls';
/** Maximum number of bases that are tried, each by a request. */
const MAX_BASES = 5;
/**
 * Maximum number of pages of the bot's pull requests in a repository, the newest first. The wanted
 * one was opened or updated a moment ago.
 */
const MAX_PAGES = 4;

export class AgitRepositories extends RestRepositories {
  readonly flow = 'agit';

  /** Returns the ref and the options of a push. They contain only what `request` names. */
  agitPush({ base, topic, text, isForced }: AgitRequest): {
    readonly refName: string;
    readonly pushOptions: readonly string[];
  } {
    const pushOptions = [`topic=${topic}`];
    if (isForced) pushOptions.push('force-push=true');
    if (text !== null) {
      const { title, body } = shownText(text);
      const beginning = Buffer.from(body).subarray(0, MAX_DESCRIPTION_BYTES).toString();
      // A line break replaces an empty description, which the server would fill in.
      pushOptions.push(`title=${oneLine(title)}`, `description=${oneLine(beginning || '\n')}`);
    }
    return { refName: `refs/for/${base}`, pushOptions };
  }

  /**
   * Tells if a push was refused because the open pull request has commits that would be removed,
   * which takes `force-push`.
   */
  isStale(reason: string): boolean {
    return /force-push/.test(reason);
  }

  /**
   * Reads the pull request that a push has opened or updated. If it was opened with another text,
   * it gets the right one.
   */
  async delivered(
    repository: RepositoryName,
    number: number,
    text: AgitRequest['text'],
  ): Promise<HostPullRequest> {
    const [pull, title, body] = await this.rest.retried(async () => {
      const data = await readPull(this.rest, repository, number);
      return [this.toPullRequest(data, repository), expectText(data.title), data.body ?? ''] as const;
    });
    if (text === null) return pull;
    const wanted = shownText(text);
    // Servers trim both.
    const isShown = title.trim() === wanted.title.trim() && body.trim() === wanted.body.trim();
    if (!isShown) await this.editPullRequest(repository, number, wanted, null);
    return pull;
  }

  /** Finds the open pull request of the bot whose newest commit is `tip`, or returns null. */
  async findDelivered(repository: RepositoryName, owner: string, tip: Oid): Promise<HostPullRequest | null> {
    return this.rest.retried(async () => {
      let pages = 0;
      const query = { ...placeOf(repository), state: 'open', poster: owner } as const;
      for await (const { data } of this.rest.pages(PULLS, query)) {
        const found = data.find(
          (pull) => pull.head.sha === tip && isBots(pull, owner) && pull.state === 'open',
        );
        if (found !== undefined) return this.toPullRequest(found as AnsweredPull, repository);
        if ((pages += 1) === MAX_PAGES) break;
      }
      return null;
    });
  }

  /** Compares the server's own number, which stays after a rename, or else the place. */
  protected async isRecorded(
    pull: AnsweredPull,
    { owner }: Head,
    repository: RepositoryName,
    { id, ...place }: PullRequestPlace,
  ): Promise<boolean> {
    const isHere = fullName(repository).toLowerCase() === `${place.owner}/${place.repo}`.toLowerCase();
    return isBots(pull, owner) && (id === undefined ? isHere : pull.id === id);
  }

  /**
   * Looks up pull requests by base and head. The bases are those of the bot's newest pull requests,
   * the default branch first.
   */
  protected async findPull(repository: RepositoryName, head: Head): Promise<AnsweredPull | null> {
    const { rest } = this;
    const place = placeOf(repository);
    const bases = await rest.retried(async () => {
      const query = { ...place, state: 'all', poster: head.owner, ...rest.differences.page } as const;
      const { data } = await rest.call(PULLS, query);
      // Older servers do not know the filter by author, and send all.
      const own = expectList(data).filter((pull) => expectNumber(pull.number) && isBots(pull, head.owner));
      const named = new Set(own.map(({ base }) => expectText(base.ref)));
      const main = own[0]?.base.repo?.default_branch;
      return [...named].toSorted((one, other) => Number(other === main) - Number(one === main));
    });
    let closed: AnsweredPull | null = null;
    for (const base of bases.slice(0, MAX_BASES)) {
      const at = { ...place, base, head: `${head.owner.toLowerCase()}/${head.branch}` };
      const found = await unlessMissing(() =>
        rest.retried(() => rest.call('GET /repos/{owner}/{repo}/pulls/{base}/{head}', at)),
      );
      if (found === null || !isBots(found.data, head.owner)) continue;
      if (found.data.state === 'open') return found.data;
      closed ??= found.data;
    }
    return closed;
  }

  protected sourceOf({ number }: AnsweredPull, repository: RepositoryName): Source {
    const { owner, name } = repository;
    return { repository: { owner, name }, refName: `refs/pull/${number}/head` };
  }
}

/** Returns the text that the pull request gets. Only its title can say that it is a draft. */
function shownText({ title, body, isDraft }: NonNullable<AgitRequest['text']>) {
  return { title: isDraft && !DRAFT_TITLE.test(title) ? `WIP: ${title}` : title, body };
}

/**
 * Encodes a value where it must be: servers that do not know the encoding show their watchers what
 * was sent.
 */
function oneLine(text: string): string {
  const isPlain = !/[\0\r\n]/.test(text) && !text.startsWith(ENCODED);
  return isPlain ? text : ENCODED + Buffer.from(text).toString('base64');
}

/**
 * Tells if the bot opened a pull request.
 * @param login is the bot's.
 */
function isBots({ user }: { readonly user: { readonly login: string } | null }, login: string): boolean {
  return user?.login.toLowerCase() === login.toLowerCase();
}
