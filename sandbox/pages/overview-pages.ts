/**
 * Renders the front page, which lists what happened lately on this host; an account's page, and the
 * topics' pages.
 */
import type { Host } from '../host.ts';
import type { Ntfy } from '../ntfy.ts';
import type { NtfyAction, NtfyMessage, Repository } from '../records.ts';
import { timestamp } from '../records.ts';
import type { Answer } from '../rest/api-call.ts';
import { fullName } from '../rest/render-repository.ts';
import { limitsForm } from './act-forms.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import { issueEntry } from './issue-pages.ts';
import { link, moment, pageAnswer, section, writtenText } from './layout.ts';

const SHOWN_ENTRIES = 50;

/**
 * Renders the front page.
 * @param canForgetLimits whether it has a button that makes the service forget its counts.
 */
export function frontPage(host: Host, canForgetLimits: boolean): Answer {
  const repositories = publicRepositories(host);
  const threads = repositories
    .flatMap((repository) => repository.issues.map((issue) => ({ repository, issue })))
    .toSorted((a, b) => b.issue.id - a.issue.id)
    .slice(0, SHOWN_ENTRIES);
  const entries = (pulls: boolean) =>
    threads
      .filter(({ issue }) => (issue.pull !== null) === pulls)
      .map(({ repository, issue }) => issueEntry(repository, issue));
  return pageAnswer(
    'Sandbox code host',
    [],
    html`<h1>Sandbox code host</h1>
      <p class="dim">
        A code host on this machine for trying the service out. Its bot account is ${host.bot.login}. On the
        pages of repositories, pull requests and issues, you can act as their maintainer.
      </p>
      ${section('Pull requests', entries(true), 'None yet: push through the service.')}
      ${section('Issues', entries(false), 'No issues.')}
      ${section('Repositories', repositories.map(repositoryEntry), 'No repositories.')}
      ${section('Notifications of the bot account', notificationEntries(host), 'No notifications.')}
      ${section('Topics', topicEntries(host), 'Nothing has been published.')}
      ${canForgetLimits ? limitsForm() : ''}`,
  );
}

export function userPage(host: Host, login: string): Answer | null {
  const user = host.store.findUser(login);
  if (!user) return null;
  const owned = publicRepositories(host).filter((repository) => repository.owner === user.login);
  return pageAnswer(
    user.login,
    [html`${user.login}`],
    html`<h1>${user.login}</h1>
      ${section('Repositories', owned.map(repositoryEntry), 'No repositories.')}`,
  );
}

/** Renders the page of the App, from which maintainers go on to install it. */
export function appPage(host: Host, slug: string): Answer | null {
  const { app } = host.apps;
  if (app?.slug !== slug) return null;
  const permissions = Object.entries(app.permissions).map(([name, level]) => html`${name}: ${level}`);
  return pageAnswer(
    slug,
    [html`${slug}`],
    html`<h1>${slug}</h1>
      <p class="dim">A GitHub App. On the page of a repository, its maintainer installs or removes it.</p>
      ${section('What it may do', permissions, 'Nothing.')}
      ${section('Repositories', publicRepositories(host).map(repositoryEntry), 'No repositories.')}`,
  );
}

export function topicPage(ntfy: Ntfy, topic: string): Answer {
  return pageAnswer(
    `Topic ${topic}`,
    [html`${topic}`],
    html`<h1>${topic}</h1>
      ${section(
        'Messages',
        ntfy.messages(topic).toReversed().map(messageEntry),
        'Nothing has been published to this topic.',
      )}`,
  );
}

function publicRepositories(host: Host): Repository[] {
  return host.store.records.repositories.filter((repository) => !repository.private);
}

function repositoryEntry(repository: Repository): Html {
  return html`${link(`/${fullName(repository)}`, fullName(repository))}
    <span class="dim">${repository.parentId === null ? '' : 'fork'}</span>`;
}

function notificationEntries(host: Host): Html[] {
  return host.store.records.threads
    .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
    .slice(0, SHOWN_ENTRIES)
    .flatMap((thread) => {
      const repository = host.store.repositoryById(thread.repositoryId);
      const issue = repository?.issues[thread.issueNumber - 1];
      if (!repository || !issue || repository.private) return [];
      return [html`${moment(thread.updatedAt)} ${issueEntry(repository, issue)}`];
    });
}

function topicEntries(host: Host): Html[] {
  const topics = Map.groupBy(host.store.records.messages, (message) => message.topic);
  return [...topics].map(
    ([topic, messages]) =>
      html`${link(`/ntfy/${topic}`, topic)} <span class="dim">messages: ${messages.length}</span>`,
  );
}

function messageEntry(message: NtfyMessage): Html {
  const actions = (message.actions ?? []).map(
    (action) =>
      html`<li>
        ${action.label}
        <pre>${actionText(action)}</pre>
      </li>`,
  );
  return html`<strong>${message.title ?? message.topic}</strong>
    <span class="dim">${moment(timestamp(new Date(message.time * 1000)))}</span>
    ${writtenText(message.message)}
    ${message.click === undefined ? '' : html`<div>${clickLink(message.click)}</div>`}
    ${
      actions.length === 0
        ? ''
        : html`<ul>
            ${actions}
          </ul>`
    }
    <div class="dim">Priority ${message.priority ?? 3} ${(message.tags ?? []).join(', ')}</div>`;
}

/** Shows a button of a message as a command to paste, because these pages run no scripts. */
function actionText(action: NtfyAction): string {
  if (action.action !== 'http') return JSON.stringify(action);
  const { method = 'POST', url = '', headers = {}, body } = action;
  const words = [
    'curl',
    '-X',
    method,
    url,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(body === undefined ? [] : ['-d', body]),
  ];
  return words.map(shellWord).join(' ');
}

function shellWord(text: string): string {
  return /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Makes links of web addresses only: a published `javascript:` address must not run. */
function clickLink(address: string): Html {
  return /^https?:\/\//.test(address) ? link(address, address) : html`${address}`;
}
