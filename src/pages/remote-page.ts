/**
 * The page that a browser shows at the address of a remote: what the repository accepts, and all
 * ways to contribute to it.
 * Proved by test/routes/pages/remote-page.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { Config } from '../config/config.ts';
import type { PullRequestView } from '../durable/pull-request/pull-request.ts';
import type { ListedThread } from '../host/code-host.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { gateWords } from '../policy/gates.ts';
import {
  type Contribution,
  gateSentence,
  nothingAccepted,
  type Policy,
  policyRefusal,
} from '../policy/policy.ts';
import { askedOptions, commandList, commandScript } from './commands.ts';
import PUSH_HTML from './fragments/push.html';
import { MAINTAINERS_PATH } from '../text/footer.ts';
import {
  card,
  DCO_URL,
  dotted,
  filled,
  type Html,
  isoTime,
  listCard,
  type Page,
  promises,
  safeUrl,
  statusLine,
  visibleText,
} from './layout.ts';
import { PULL_REQUEST_STATES } from './pull-request-page.ts';
import { CHANGE_FORM, FILE_FORM, ISSUE_FORM, REPLY_FORM, SECURITY_FORM } from './remote-paths.ts';
import { dayElement, threadItem } from './thread-item.ts';

/** A pull request in the list; what is not known is null. */
export interface ListedPullRequest extends Pick<PullRequestView, 'number' | 'url' | 'state'> {
  readonly title: string | null;
  /** Seconds since 1970. */
  readonly openedAt: number | null;
}

interface RemotePage {
  readonly repository: RepositoryName;
  readonly remoteBase: string;
  /** The repository's path at this service: `gh/owner/repo`. */
  readonly path: string;
  /** The rules of the repository. Like `isSuspended`, undefined if nobody could find out. */
  readonly policy: Policy | undefined;
  /** The repository's address at the code host. */
  readonly hostUrl: string;
  /** Gives the address of a file at the code host. */
  readonly fileUrl: (path: string) => string;
  readonly isSuspended: boolean | undefined;
  /** Anonymous pull requests; null, like `openThreads`, if they cannot be listed now. */
  readonly pullRequests: readonly ListedPullRequest[] | null;
  /**
   * The newest open issues and pull requests of anybody; undefined: there is no use in them here.
   */
  readonly openThreads: readonly ListedThread[] | null | undefined;
  /** Where its maintainers can install the App; null: nowhere. */
  readonly app: string | null;
}

export function remotePage(page: RemotePage, { hosts }: Pick<Config, 'hosts'>): Page {
  const { repository, hostUrl, isSuspended, path } = page;
  const name = fullName(repository);
  return {
    title: `Contribute to ${name} without an account · gitveil`,
    description: `A Git remote for anonymous contributions to ${name}.`,
    script: commandScript(hosts),
    // Any name has such a page, so search engines would find no end of them.
    isIndexed: false,
    content: html`<main>
      <h1>Contribute to <a href="${hostUrl}">${name}</a> without an account</h1>
      <p class="lead">
        A bot opens the pull request or posts what you write. It does not show your name, your e-mail address
        or your dates.
      </p>
      ${isSuspended && statusLine('bad', SUSPENDED)} ${statusLine(...acceptance(page))} ${ways(page)}
      ${isAccepted(page, 'pull_requests') && fileLine(page)}
      <p>
        Found a vulnerability? <a href="/v1/${path}${SECURITY_FORM}">Report it privately</a>: an issue is
        public.
      </p>
      ${rules(page)} ${isAccepted(page, 'pull_requests') && withGit(page)} ${promises()} ${issueList(page)}
      ${pullRequestList(page)}
      <p class="soft small">
        You maintain ${name}? <a href="${MAINTAINERS_PATH}">What maintainers should know</a>: what the bot is,
        what to set for workflows, and how to say no. ${page.app === null ? '' : appLine(page.app)}
      </p>
    </main>`,
  };
}

const appLine = (address: string): Html =>
  html`Or <a href="${safeUrl(address)}" rel="noreferrer">install its App</a>, and what comes is written by an
    account of your repository’s own, which you can remove.`;

const SUSPENDED = 'Pushes are suspended at the moment. Try again in 15 minutes.';

/** Kinds of contributions in words, and the buttons that lead to their forms. */
const CONTRIBUTIONS: Readonly<Record<Contribution, { words: string; button: string; form: string }>> = {
  pull_requests: { words: 'pull requests', button: 'Change a file', form: CHANGE_FORM },
  issues: { words: 'issues', button: 'Report an issue', form: ISSUE_FORM },
  comments: { words: 'replies', button: 'Reply', form: REPLY_FORM },
};
const KINDS = Object.keys(CONTRIBUTIONS) as Contribution[];

/** Answers whether a form is worth showing; also yes if the policy is not known. */
function isAccepted({ policy }: RemotePage, kind: Contribution): boolean {
  return policy === undefined || policy.accepted.includes(kind);
}

function acceptance({ policy, repository }: RemotePage): [tone: string, words: Html | string] {
  if (policy === undefined)
    return ['warn', 'What this repository accepts cannot be read at the moment. Try again in a minute.'];
  const accepted = KINDS.filter((kind) => policy.accepted.includes(kind));
  const refused = KINDS.find((kind) => !policy.accepted.includes(kind));
  if (refused === undefined) return ['good', 'It accepts anonymous pull requests, issues and replies.'];
  if (accepted.length === 0 && isByFile(policy)) return ['bad', nothingAccepted(repository, policy)];
  if (accepted.length === 0 || policy.problem !== null)
    return ['bad', visibleText(policyRefusal(policy, repository, refused) ?? '')];
  const only = `It accepts only anonymous ${accepted.map((kind) => CONTRIBUTIONS[kind].words).join(' and ')}.`;
  const isDenounced = refused === 'pull_requests' && policy.community.standing?.kind === 'denounced';
  if (!isDenounced) return ['warn', only];
  const [why = '', theirs = ''] = (policyRefusal(policy, repository, refused) ?? '').split('\n');
  return ['warn', html`${why} ${only} ${theirs === '' ? '' : html`<br />${visibleText(theirs)}`}`];
}

/** Answers whether only the maintainers' file closes what is closed. */
function isByFile({ problem, stoppedAt, pullRequests, community }: Policy): boolean {
  const isDenounced = community.standing?.kind === 'denounced';
  return problem === null && stoppedAt === undefined && pullRequests === undefined && !isDenounced;
}

function withGit({ remoteBase, path, policy }: RemotePage): Html {
  const options = policy === undefined ? '' : askedOptions(policy, true);
  return card('git', 'With Git', html`${commandList(remoteBase, path, options)} ${filled(PUSH_HTML)}`);
}

const SIGN_OFF = html`Affirm the <a href="${DCO_URL}">Developer Certificate of Origin 1.1</a> for all your
  commits: <code>-o sign-off</code>. The bot then signs them off under its name.`;

function rules(page: RemotePage): Html | '' {
  const { policy, repository, fileUrl } = page;
  if (policy === undefined) return '';
  const { template, contributing, security } = policy.community;
  const link = (path: string) => html`<a href="${safeUrl(fileUrl(path))}">${visibleText(path)}</a>`;
  const [name, gate] = [fullName(repository), gateSentence(repository, policy)];
  const ofPulls = [
    policy.requiresSignOff && SIGN_OFF,
    gate !== null && html`${visibleText(gate)}`,
    ...policy.community.gates
      .filter((each) => each.asks !== 'vouch')
      .map((each) => html`${visibleText(gateWords(each, name))}`),
    policy.requiresAi && html`Say whether AI was used: <code>-o ai=none|assisted|generated</code>.`,
    policy.requiresIssue && html`Name the open issue that it is about: <code>-o issue=12</code>.`,
    policy.refusesWorkflows && html`Changes of workflows are refused.`,
    template !== null && html`Use the template for pull requests: ${link(template)}.`,
  ];
  const items = [
    ...(isAccepted(page, 'pull_requests') ? ofPulls : []),
    ...policy.limits.map(
      ({ most, withinMs }) => html`At most ${most} pull requests and issues within ${withinMs / 60_000} min.`,
    ),
    contributing !== null && html`Read how to contribute: ${link(contributing)}.`,
    security !== null && html`Report vulnerabilities as it says: ${link(security)}.`,
  ].filter((item) => item !== false);
  const list = items.map((item) => html`<li><span>${item}</span></li>`);
  return list.length === 0 ? '' : listCard('rules', 'What its maintainers ask for', list, '');
}

function ways(page: RemotePage): Html | '' {
  const open = KINDS.filter((kind) => isAccepted(page, kind)).map((kind) => CONTRIBUTIONS[kind]);
  const buttons = open.map(
    ({ button, form }, index) =>
      html`<a class="button${index === 0 ? '' : ' second'}" href="/v1/${page.path}${form}">${button}</a>`,
  );
  return buttons.length === 0 ? '' : html`<div class="buttons ways">${buttons}</div>`;
}

const fileLine = ({ path }: RemotePage): Html =>
  html`<p>
    You have commits, and no way to push? <a href="/v1/${path}${FILE_FORM}">Send a bundle or a patch</a>.
  </p>`;

/** The most issues that are listed: more are better looked for at the code host. */
const MOST_ISSUES = 20;
const UNREADABLE = 'The list cannot be read at the moment.';

function issueList(page: RemotePage): Html | '' {
  const { openThreads } = page;
  if (openThreads === undefined) return '';
  const issues = openThreads?.filter(({ isPullRequest }) => !isPullRequest) ?? [];
  const items = issues.slice(0, MOST_ISSUES).map(({ number, title, openedAt }) => {
    const facts = html`${dotted('good', 'Open')} ${dayElement(openedAt)}`;
    return threadItem(replyFormOf(page), number, title, facts);
  });
  const none = openThreads?.length === 0 ? 'None.' : 'None among its newest threads.';
  const nothing = openThreads === null ? UNREADABLE : none;
  return listCard('issues', 'Its open issues, the newest first', items, nothing, 'threads');
}

function pullRequestList(page: RemotePage): Html {
  const sorted = page.pullRequests?.toSorted((one, other) => other.number - one.number) ?? [];
  const items = sorted.map(({ number, url, state, title, openedAt }) => {
    const { tone, word } = PULL_REQUEST_STATES[state];
    const opened = openedAt === null ? '' : dayElement(isoTime(openedAt));
    const link = html`<a href="${safeUrl(url)}" rel="noreferrer">at the code host</a>`;
    const facts = html`${dotted(tone, word)} ${opened} ${link}`;
    return threadItem(replyFormOf(page), number, title ?? '', facts);
  });
  const nothing = page.pullRequests === null ? UNREADABLE : 'None yet.';
  const list = listCard('listed', 'Its anonymous pull requests', items, nothing, 'threads');
  return items.length === 0
    ? list
    : html`${list}
        <p class="soft small">Whoever opens a new one there looks like its author.</p>`;
}

const replyFormOf = ({ path }: RemotePage): string => `/v1/${path}${REPLY_FORM}`;
