/**
 * Renders the pages of a repository, of one commit and of one file, to which the addresses in REST
 * answers lead.
 */
import { readRefs } from '../bare-repository.ts';
import { readCommit } from '../commits.ts';
import { runGit } from '../git-command.ts';
import type { Host } from '../host.ts';
import type { Repository } from '../records.ts';
import type { Answer } from '../rest/api-call.ts';
import { fullName, repositoryHtmlUrl } from '../rest/render-repository.ts';
import { appForm, POLICY_PATH, policyForm } from './act-forms.ts';
import { commitView } from './commit-view.ts';
import { type Html, html } from './html.ts';
import { issueEntry } from './issue-pages.ts';
import { diff, link, pageAnswer, section, writtenText } from './layout.ts';

const MAX_SHOWN_BYTES = 256 * 1024;

export async function repositoryPage(host: Host, repository: Repository): Promise<Answer> {
  const path = `/${fullName(repository)}`;
  const branches = [...readRefs(host.pathOf(repository))]
    .filter(([ref]) => ref.startsWith('refs/heads/'))
    .map(
      ([ref, oid]) =>
        html`${ref.slice('refs/heads/'.length)}
          <code>${link(`${path}/commit/${oid}`, oid.slice(0, 10))}</code>`,
    );
  const newestFirst = repository.issues.toReversed();
  const entry = (issue: (typeof newestFirst)[number]) => issueEntry(repository, issue);
  const pulls = newestFirst.filter((issue) => issue.pull).map(entry);
  const issues = newestFirst.filter((issue) => !issue.pull).map(entry);
  const parent = repository.parentId === null ? undefined : host.store.repositoryById(repository.parentId);
  const { app } = host.apps;
  return pageAnswer(
    fullName(repository),
    [html`${fullName(repository)}`],
    html`<h1>${fullName(repository)}</h1>
      ${parent ? html`<p>Fork of ${link(`/${fullName(parent)}`, fullName(parent))}</p>` : ''}
      <pre>git clone ${repositoryHtmlUrl(host, repository)}.git</pre>
      ${section('Pull requests', pulls, 'No pull requests.')} ${section('Issues', issues, 'No issues.')}
      ${repository.takesPrivateReports === true ? privateReports(repository) : ''}
      ${section('Branches', branches, repository.ready ? 'No branches.' : 'The fork is still being made.')}
      ${parent ? '' : policyForm(repository, await policyText(host, repository))}
      ${parent || app === null ? '' : appForm(app, host.apps.ofRepository(repository))}`,
  );
}

/** Lists what a code host shows its maintainers alone, for people who try the service. */
function privateReports({ privateReports: reports = [] }: Repository): Html {
  const items = reports.map(
    ({ ghsaId, summary, description, severity, cvssVector }) =>
      html`${summary} <code>${ghsaId}</code> ${severity ?? cvssVector ?? ''} ${writtenText(description)}`,
  );
  return section('Private reports, which only maintainers see', items.toReversed(), 'No private reports.');
}

async function policyText(host: Host, repository: Repository): Promise<string> {
  const file = `refs/heads/${repository.defaultBranch}:${POLICY_PATH}`;
  const { code, stdout } = await runGit(host.pathOf(repository), ['cat-file', 'blob', file]);
  return code === 0 ? stdout.toString() : '';
}

export async function commitPage(host: Host, repository: Repository, oid: string): Promise<Answer | null> {
  const path = host.pathOf(repository);
  const commit = await readCommit(path, oid);
  if (!commit) return null;
  const show = await runGit(path, ['show', '--format=', '--stat', '--patch', oid]);
  return pageAnswer(
    `${oid.slice(0, 10)} · ${fullName(repository)}`,
    [link(`/${fullName(repository)}`, fullName(repository)), html`${oid.slice(0, 10)}`],
    html`<h1>Commit</h1>
      ${commitView(`/${fullName(repository)}`, commit)}
      <h2>Changes</h2>
      ${diff(show.stdout.subarray(0, MAX_SHOWN_BYTES).toString())}`,
  );
}

/** Answers with a file of a revision, on a page or, if `raw` is asked for, as it is. */
export async function filePage(
  host: Host,
  repository: Repository,
  revision: string,
  filePath: string,
  raw: boolean,
): Promise<Answer | null> {
  const path = host.pathOf(repository);
  const wanted = ['cat-file', 'blob', '--end-of-options', `${revision}:${filePath}`];
  const { code, stdout } = await runGit(path, wanted);
  if (code !== 0) return null;
  if (raw) return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: stdout };
  const binary = stdout.includes(0);
  return pageAnswer(
    `${filePath} · ${fullName(repository)}`,
    [link(`/${fullName(repository)}`, fullName(repository)), html`${filePath}`],
    html`<h1>${filePath}</h1>
      <p class="dim">${revision}, ${stdout.length} bytes</p>
      <pre>${binary ? 'A binary file.' : stdout.subarray(0, MAX_SHOWN_BYTES).toString()}</pre>`,
  );
}
