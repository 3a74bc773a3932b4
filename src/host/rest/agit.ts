/**
 * Pull requests by a push to `refs/for/<base>` (AGit flow). `services/agit/agit.go` of Gitea 1.26
 * and of Forgejo: the topic and the pusher's login name the pull request, beside the base. The open
 * one of a topic is updated, and else a new one opens. Title and description count only for a new
 * one; an empty one is the newest commit's.
 * Proved by test/host/forgejo/repositories.test.ts and test/forgejo/host-contract.test.ts.
 */
import type { Oid } from '../../git/objects/oid.ts';
import { unlessMissing } from '../../words/host-error.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import type { AgitRequest, Head, HostPullRequest, PullRequestPlace, Source } from '../code-host.ts';
import { expectList, expectNumber, expectText } from './answer.ts';
import { type AnsweredPull, placeOf, readPull } from './reads.ts';
import { RestRepositories } from './repositories.ts';

/** The default of `WORK_IN_PROGRESS_PREFIXES` in a server's app.ini; their case does not matter. */
const DRAFT_TITLE = /^(?:WIP:|\[WIP\])/i;
/** In front of a value that is encoded, because an option is one line. */
const ENCODED = '{base64}';
/** An option is a pkt-line, and base64 takes a third more. What is longer follows by REST. */
const MAX_DESCRIPTION_BYTES = 40_000;

const PULLS = 'GET /repos/{owner}/{repo}/pulls';
/** Each costs a request. */
const MAX_BASES = 5;
/**
 * Of the bot's pull requests in a repository, the newest first: the wanted one was opened or
 * updated a moment ago.
 */
const MAX_PAGES = 4;

export class AgitRepositories extends RestRepositories {
  readonly way = 'agit';

  /** What such a push consists of, besides the commits. Nothing in it but what `request` names. */
  agitPush({ base, topic, text, isForced }: AgitRequest): {
    readonly refName: string;
    readonly pushOptions: readonly string[];
  } {
    const pushOptions = [`topic=${topic}`];
    if (isForced) pushOptions.push('force-push=true');
    if (text !== null) {
      const { title, body } = shownText(text);
      const beginning = Buffer.from(body).subarray(0, MAX_DESCRIPTION_BYTES).toString();
      // A line break stands for an empty one, which the server would fill in.
      pushOptions.push(`title=${oneLine(title)}`, `description=${oneLine(beginning || '\n')}`);
    }
    return { refName: `refs/for/${base}`, pushOptions };
  }

  /**
   * Whether a push was refused because the open pull request has commits that would go, which takes
   * `force-push`.
   */
  isOvertaken(reason: string): boolean {
    return /force-push/.test(reason);
  }

  /**
   * What a push has opened or updated. Where it was opened with another text, it gets the right
   * one.
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
    if (!isShown) await this.editPullRequest(repository, number, wanted);
    return pull;
  }

  /** The open pull request of the bot that ends in a commit; null if none does. */
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

  /** By the server's own number for it, which stays when the repository is renamed. */
  protected isRecorded(
    pull: AnsweredPull,
    { owner }: Head,
    repository: RepositoryName,
    { id, ...place }: PullRequestPlace,
  ): boolean {
    const isHere = fullName(repository).toLowerCase() === `${place.owner}/${place.repo}`.toLowerCase();
    return isBots(pull, owner) && (id === undefined ? isHere : pull.id === id);
  }

  /**
   * By base and head. The bases are those of the bot's newest ones, the default branch before the
   * others.
   */
  protected async findPull(repository: RepositoryName, head: Head): Promise<AnsweredPull | null> {
    const { rest } = this;
    const place = placeOf(repository);
    const bases = await rest.retried(async () => {
      const query = { ...place, state: 'all', poster: head.owner, ...rest.differences.page } as const;
      const { data } = await rest.call(PULLS, query);
      // Older servers do not know the filter by author, and answer with all.
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

/** As the pull request is to have it: only the title can say that it is a draft. */
function shownText({ title, body, isDraft }: NonNullable<AgitRequest['text']>) {
  return { title: isDraft && !DRAFT_TITLE.test(title) ? `WIP: ${title}` : title, body };
}

/**
 * Encoded only where it must be: servers that do not know the encoding tell their watchers what was
 * sent.
 */
function oneLine(text: string): string {
  const isPlain = !/[\0\r\n]/.test(text) && !text.startsWith(ENCODED);
  return isPlain ? text : ENCODED + Buffer.from(text).toString('base64');
}

/** @param login the bot's */
function isBots({ user }: { readonly user: { readonly login: string } | null }, login: string): boolean {
  return user?.login.toLowerCase() === login.toLowerCase();
}
