/**
 * The page that a browser shows at the address of a remote: what the repository accepts, and all
 * ways to contribute to it.
 * Proved by test/routes/pages/remote-page.test.ts and test/pages/escaping.test.ts.
 */
import { html } from 'hono/html';
import type { Config } from '../config/config.ts';
import type { PullRequestView } from '../durable/pull-request/pull-request.ts';
import { fullName, type RepositoryName } from '../words/repository-name.ts';
import { gateWords } from '../policy/gates.ts';
import { type Contribution, gateSentence, type Policy, policyRefusal } from '../policy/policy.ts';
import { commandList, commandScript } from './commands.ts';
import CHANGE_HTML from './fragments/change.html';
import ISSUE_HTML from './fragments/issue.html';
import PUSH_HTML from './fragments/push.html';
import REPLY_HTML from './fragments/reply.html';
import { SECURITY_FORM } from './remote-paths.ts';
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
  /** Undefined, like `isSuspended`, if the service could not find out. */
  readonly policy: Policy | undefined;
  /** The repository's address at the code host. */
  readonly hostUrl: string;
  /** Gives the address of a file at the code host. */
  readonly fileUrl: (path: string) => string;
  readonly isSuspended: boolean | undefined;
  /** Anonymous pull requests, newest first; null if they cannot be listed now. */
  readonly pullRequests: readonly ListedPullRequest[] | null;
}

export function remotePage(page: RemotePage, { hosts }: Pick<Config, 'hosts'>): Page {
  const { repository, remoteBase, path } = page;
  const name = fullName(repository);
  const isSignedOff = page.policy?.requiresSignOff === true && isAccepted(page, 'pull_requests');
  const commands = commandList(remoteBase, path, isSignedOff ? '-o sign-off ' : '');
  return {
    title: `Contribute to ${name} without an account · gitveil`,
    description: `A Git remote for anonymous contributions to ${name}.`,
    script: commandScript(hosts),
    // Any name has such a page, so search engines would find no end of them.
    isIndexed: false,
    content: html`<main>
      <h1>Contribute to <a href="${page.hostUrl}">${name}</a> without an account</h1>
      <p class="lead">
        Use Git or the forms below. A bot opens the pull request or posts what you write. It does not show
        your name, your e-mail address or your dates.
      </p>
      ${page.isSuspended && statusLine('bad', SUSPENDED)} ${statusLine(...acceptance(page))} ${ways(page)}
      ${rules(page)}
      <p>
        Found a vulnerability? <a href="/v1/${path}${SECURITY_FORM}">Report it privately</a>: an issue is
        public.
      </p>
      ${card('git', 'With Git', html`${commands} ${isSignedOff && SIGN_OFF_NOTE} ${filled(PUSH_HTML)}`)}
      ${promises(pullRequestList(page))}
      <p class="soft small">
        You maintain ${name}? <a href="${MAINTAINERS_PATH}">What maintainers should know</a>: what the bot is,
        what to set for workflows, and how to say no.
      </p>
    </main>`,
  };
}

const SUSPENDED = 'Pushes are suspended at the moment. Try again in 15 minutes.';

const SIGN_OFF_NOTE = html`<p class="after-commands">
  This repository takes only commits under the
  <a href="${DCO_URL}">Developer Certificate of Origin 1.1</a>. With <code>-o sign-off</code> you affirm it
  for all your commits, and the bot signs them off under its name.
</p>`;

/** Kinds of contributions in words, and the links to their forms. */
const CONTRIBUTIONS: Readonly<Record<Contribution, { words: string; form: string }>> = {
  pull_requests: { words: 'pull requests', form: CHANGE_HTML },
  issues: { words: 'issues', form: ISSUE_HTML },
  comments: { words: 'replies', form: REPLY_HTML },
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
  if (accepted.length === 0 || policy.problem !== null)
    return ['bad', visibleText(policyRefusal(policy, repository, refused) ?? '')];
  const only = `It accepts only anonymous ${accepted.map((kind) => CONTRIBUTIONS[kind].words).join(' and ')}.`;
  const isDenounced = refused === 'pull_requests' && policy.community.standing?.kind === 'denounced';
  if (!isDenounced) return ['warn', only];
  const [why = '', theirs = ''] = (policyRefusal(policy, repository, refused) ?? '').split('\n');
  return ['warn', html`${why} ${only} ${theirs === '' ? '' : html`<br />${visibleText(theirs)}`}`];
}

function rules(page: RemotePage): Html | '' {
  const { policy, repository, fileUrl } = page;
  if (policy === undefined) return '';
  const { template, contributing, security } = policy.community;
  const link = (path: string) => html`<a href="${safeUrl(fileUrl(path))}">${visibleText(path)}</a>`;
  const [name, gate] = [fullName(repository), gateSentence(repository, policy)];
  const ofPulls = [
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

function ways(page: RemotePage): Html {
  const open = KINDS.filter((kind) => isAccepted(page, kind));
  const cards = open.map((kind) => filled(CONTRIBUTIONS[kind].form, { remote: `/v1/${page.path}` }));
  return html`<div class="columns">${cards}</div>`;
}

function pullRequestList({ pullRequests }: RemotePage): Html {
  const items = (pullRequests ?? []).map(({ number, url, state, title, openedAt }) => {
    const { tone, word } = PULL_REQUEST_STATES[state];
    const time = openedAt === null ? null : isoTime(openedAt);
    return html`<li>
      #${number}${title === null ? '' : ` ${visibleText(title)}`}
      ${time && html`<time class="soft" datetime="${time}">${time.slice(0, 10)}</time>`} ${dotted(tone, word)}
      <a href="${safeUrl(url)}" rel="noreferrer" class="small">at the code host</a>
    </li>`;
  });
  const nothing = pullRequests === null ? 'The list cannot be read at the moment.' : 'None yet.';
  const list = listCard('listed', 'Its anonymous pull requests', items, nothing);
  return items.length === 0
    ? list
    : html`${list}
        <p class="soft small">Whoever opens a new one there looks like its author.</p>`;
}
