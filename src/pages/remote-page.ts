/** The address of a remote, opened in a browser: what the repository accepts, and every way to contribute to it. */
import { html } from 'hono/html';
import type { Config } from '../config.ts';
import type { PullRequestState } from '../durable/pull-request/history.ts';
import { fullName, type RepositoryName } from '../repository-name.ts';
import { type Contribution, gateSentence, type Policy, policyRefusal } from '../policy/policy.ts';
import { commandList, commandScript } from './commands.ts';
import { safeUrl } from './forms/parts.ts';
import CHANGE_HTML from './fragments/change.html';
import ISSUE_HTML from './fragments/issue.html';
import PUSH_HTML from './fragments/push.html';
import REPLY_HTML from './fragments/reply.html';
import {
  DCO_URL,
  dotted,
  filled,
  type Html,
  MAINTAINERS_PATH,
  type Page,
  promises,
  statusLine,
} from './layout.ts';
import { stateWord } from './pull-request-page.ts';
import { isoTime } from './times.ts';
import { visibleText } from './visible-text.ts';

export interface ListedPullRequest {
  readonly number: number;
  readonly url: string;
  readonly state: PullRequestState;
  /** Null: nobody knows. */
  readonly title: string | null;
  /** Seconds since 1970; null: it is not known. */
  readonly openedAt: number | null;
}

export interface RemotePage {
  readonly repository: RepositoryName;
  /** Base of all remotes, with a slash at its end. */
  readonly remoteBase: string;
  /** Of this one: `gh/owner/repo`. */
  readonly path: string;
  /** Where the forms are. */
  readonly forms: { readonly issue: string; readonly reply: string; readonly change: string };
  readonly policy: Policy | undefined;
  /** Its address at the code host, and that of a file there. */
  readonly hostUrl: string;
  readonly fileUrl: (path: string) => string;
  /** Undefined: the service could not find out. */
  readonly isSuspended: boolean | undefined;
  /** Anonymous ones, the newest first; null: they cannot be listed now. */
  readonly pullRequests: readonly ListedPullRequest[] | null;
}

export function remotePage(page: RemotePage, { hosts }: Pick<Config, 'hosts'>): Page {
  const { repository, remoteBase, path } = page;
  const name = fullName(repository);
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
      ${suspension(page)} ${acceptance(page)} ${ways(page)} ${rules(page)}
      <section class="card" aria-labelledby="git">
        <h2 id="git">With Git</h2>
        ${commandList(remoteBase, path, requiresSignOff(page) ? '-o sign-off ' : '')} ${signOffNote(page)}
        ${filled(PUSH_HTML)}
      </section>
      ${promises(pullRequestList(page))}
      <p class="soft small">
        You maintain ${name}? <a href="${MAINTAINERS_PATH}">What maintainers should know</a>: what the bot is,
        what to set for workflows, and how to say no.
      </p>
    </main>`,
  };
}

function requiresSignOff(page: RemotePage): boolean {
  return page.policy?.requiresSignOff === true && isAccepted(page, 'pull_requests');
}

function signOffNote(page: RemotePage): Html | '' {
  if (!requiresSignOff(page)) return '';
  return html`<p class="after-commands">
    This repository takes only commits under the
    <a href="${DCO_URL}">Developer Certificate of Origin 1.1</a>. With <code>-o sign-off</code> you affirm it
    for all your commits, and the bot signs them off under its name.
  </p>`;
}

const IN_WORDS: Readonly<Record<Contribution, string>> = {
  pull_requests: 'pull requests',
  issues: 'issues',
  comments: 'replies',
};
const KINDS = Object.keys(IN_WORDS) as Contribution[];

/** Whether a form for this is worth showing; if nobody knows, it is. */
function isAccepted({ policy }: RemotePage, kind: Contribution): boolean {
  return policy === undefined || policy.accepted.includes(kind);
}

function suspension({ isSuspended }: RemotePage): Html | '' {
  if (isSuspended !== true) return '';
  return statusLine('bad', 'Pushes are suspended at the moment. Try again in 15 minutes.');
}

/** What the repository accepts, as its policy says. */
function acceptance({ policy, repository }: RemotePage): Html {
  const [tone, words] = acceptanceInWords(policy, repository);
  return statusLine(tone, words);
}

function acceptanceInWords(
  policy: RemotePage['policy'],
  repository: RepositoryName,
): [tone: string, words: string] {
  if (policy === undefined)
    return ['warn', 'What this repository accepts cannot be read at the moment. Try again in a minute.'];
  const accepted = KINDS.filter((kind) => policy.accepted.includes(kind));
  const refused = KINDS.find((kind) => !policy.accepted.includes(kind));
  if (refused === undefined) return ['good', 'It accepts anonymous pull requests, issues and replies.'];
  if (accepted.length === 0 || policy.problem !== null)
    return ['bad', policyRefusal(policy, repository, refused) ?? ''];
  const isDenounced = refused === 'pull_requests' && policy.community.standing?.kind === 'denounced';
  const why = isDenounced ? `${policyRefusal(policy, repository, refused)} ` : '';
  return ['warn', `${why}It accepts only anonymous ${accepted.map((kind) => IN_WORDS[kind]).join(' and ')}.`];
}

/** What its maintainers ask for, as the service has read it. */
function rules(page: RemotePage): Html | '' {
  const { policy, repository, fileUrl } = page;
  if (policy === undefined) return '';
  const { template, contributing, security } = policy.community;
  const link = (path: string) => html`<a href="${safeUrl(fileUrl(path))}">${visibleText(path)}</a>`;
  const gate = gateSentence(repository, policy);
  const ofPulls = [
    gate !== null && html`${visibleText(gate)}`,
    policy.requiresAi && html`Say whether AI was used: <code>-o ai=none|assisted|generated</code>.`,
    policy.requiresIssue && html`Name the open issue that it is about: <code>-o issue=12</code>.`,
    policy.refusesWorkflows && 'Changes of workflows are refused.',
    template !== null && html`Use the template for pull requests: ${link(template)}.`,
  ];
  const items = [
    ...(isAccepted(page, 'pull_requests') ? ofPulls : []),
    ...policy.limits.map(
      ({ most, withinMs }) => `At most ${most} pull requests and issues within ${withinMs / 60_000} min.`,
    ),
    contributing !== null && html`Read how to contribute: ${link(contributing)}.`,
    security !== null && html`Report vulnerabilities as it says: ${link(security)}.`,
  ].filter((item) => item !== false);
  if (items.length === 0) return '';
  return html`<section class="card" aria-labelledby="rules">
    <h2 id="rules">What its maintainers ask for</h2>
    <ul>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
  </section>`;
}

/** By what the repository must accept for them. */
const WAYS = [
  ['pull_requests', 'change', CHANGE_HTML],
  ['issues', 'issue', ISSUE_HTML],
  ['comments', 'reply', REPLY_HTML],
] as const;

function ways(page: RemotePage): Html {
  const open = WAYS.filter(([kind]) => isAccepted(page, kind));
  const cards = open.map(([, form, card]) => filled(card, { form: page.forms[form] }));
  return html`<div class="columns">${cards}</div>`;
}

function pullRequestList({ pullRequests }: RemotePage): Html {
  const items = (pullRequests ?? []).map(({ number, url, state, title, openedAt }) => {
    const { tone, word } = stateWord(state);
    const name = title === null ? `#${number}` : `#${number} ${visibleText(title)}`;
    return html`<li>
      <a href="${safeUrl(url)}">${name}</a>
      ${
        openedAt === null
          ? ''
          : html`<time class="soft" datetime="${isoTime(openedAt)}">${isoTime(openedAt).slice(0, 10)}</time>`
      }
      ${dotted(tone, word)}
    </li>`;
  });
  const nothing = pullRequests === null ? 'The list cannot be read at the moment.' : 'None yet.';
  return html`<section class="card" aria-labelledby="listed">
    <h2 id="listed">Its anonymous pull requests</h2>
    ${
      items.length === 0
        ? html`<p class="soft">${nothing}</p>`
        : html`<ul class="list">
            ${items}
          </ul>`
    }
  </section>`;
}
