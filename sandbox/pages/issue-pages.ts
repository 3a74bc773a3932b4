/** Renders the pages of an issue and of a pull request, with its commits and its diff. */
import { compareTips, diffText, readCommits } from '../commits.ts';
import { runGit } from '../git-command.ts';
import type { Host } from '../host.ts';
import type { Issue, Pull, Repository, Review } from '../records.ts';
import type { Answer } from '../rest/api-call.ts';
import { fullName } from '../rest/render-repository.ts';
import { threadForms } from './act-forms.ts';
import { commitView } from './commit-view.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import { diff, link, moment, pageAnswer, section, writtenText } from './layout.ts';

/** Most bytes of a patch on a page, where nobody reads more. */
const MAX_DIFF_BYTES = 256 * 1024;

export function stateOf(issue: Issue): string {
  return issue.pull?.mergedAt ? 'merged' : issue.state;
}

function stateBadge(issue: Issue): Html {
  const state = stateOf(issue);
  return html`<span class="state ${state}">${state}</span>`;
}

/** Renders one entry in a list of issues or pull requests. */
export function issueEntry(repository: Repository, issue: Issue): Html {
  const path = `/${fullName(repository)}/${issue.pull ? 'pull' : 'issues'}/${issue.number}`;
  return html`${stateBadge(issue)} ${link(path, issue.title)}
    <div class="dim">
      ${fullName(repository)}#${issue.number} by ${issue.author}, ${moment(issue.createdAt)}, comments:
      ${issue.comments.length}
    </div>`;
}

export function issuePage(host: Host, repository: Repository, issue: Issue): Answer {
  return threadPage(host, repository, issue, html``, html``);
}

export async function pullPage(
  host: Host,
  repository: Repository,
  issue: Issue,
  pull: Pull,
): Promise<Answer> {
  const { head, base, headRepository } = tips(host, repository, pull);
  const [{ oids }, patch] = await Promise.all([
    compareTips(base, head),
    diffText(base, head, MAX_DIFF_BYTES),
  ]);
  const commits = await readCommits(head.path, oids);
  const branches = html`<p>
    <code>${headRepository.owner}:${pull.headRef}</code> into
    <code>${repository.owner}:${pull.baseRef}</code>
  </p>`;
  const changes = html`${section(
      `Commits (${commits.length})`,
      commits.map((commit) => commitView(`/${fullName(headRepository)}`, commit)),
      'No commits.',
    )}
    <h2>Changes</h2>
    ${diff(patch)} ${section('Reviews', reviewEntries(host, repository, issue), 'No reviews.')}`;
  return threadPage(host, repository, issue, branches, changes);
}

/** Answers with the pull request as `.diff` or as `.patch`, which are text for programs. */
export async function pullText(
  host: Host,
  repository: Repository,
  pull: Pull,
  form: string,
): Promise<Answer> {
  const { head, base } = tips(host, repository, pull);
  const command =
    form === 'diff'
      ? ['diff', `${base.oid}...${head.oid}`]
      : ['format-patch', '--stdout', `${base.oid}..${head.oid}`];
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: `${head.path}/objects` };
  const { stdout } = await runGit(base.path, command, { env });
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: stdout };
}

function reviewEntries(host: Host, repository: Repository, issue: Issue): Html[] {
  const isOfThis = (review: Review) =>
    review.repositoryId === repository.id && review.issueNumber === issue.number;
  return host.store.records.reviews.filter(isOfThis).map(
    ({ author, state, submittedAt, body }) =>
      html`<div class="dim">${author}, ${moment(submittedAt)}: ${state}</div>
        ${body === '' ? '' : writtenText(body)}`,
  );
}

function threadPage(host: Host, repository: Repository, issue: Issue, facts: Html, changes: Html): Answer {
  const labels = issue.labels.length > 0 ? html`<p class="dim">Labels: ${issue.labels.join(', ')}</p>` : '';
  const comments = issue.comments.map(
    (comment) =>
      html`<div id="issuecomment-${comment.id}" class="dim">
          ${comment.author}, ${moment(comment.createdAt)} ${comment.thumbs?.length ? '👍' : ''}
        </div>
        ${writtenText(comment.body)}`,
  );
  return pageAnswer(
    `${issue.title} · ${fullName(repository)}#${issue.number}`,
    [link(`/${fullName(repository)}`, fullName(repository)), html`#${issue.number}`],
    html`<h1>${issue.title}</h1>
      <p class="dim">${stateBadge(issue)} by ${issue.author}, ${moment(issue.createdAt)}</p>
      ${labels} ${facts} ${writtenText(issue.body)} ${changes}
      ${section('Comments', comments, 'No comments.')} ${threadForms(repository, issue, host.bot.login)}`,
  );
}

function tips(host: Host, repository: Repository, pull: Pull) {
  const headRepository = host.store.repositoryById(pull.headRepositoryId) ?? repository;
  return {
    headRepository,
    head: { path: host.pathOf(headRepository), oid: pull.headSha },
    base: { path: host.pathOf(repository), oid: pull.baseSha },
  };
}
