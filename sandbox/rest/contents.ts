/** What a repository holds: branches, commits, files and folders. */
import { readRef, readRefs } from '../bare-repository.ts';
import { readCommit } from '../commits.ts';
import { runGit } from '../git-command.ts';
import type { Repository } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { Refusal, json, notFound, page } from './api-call.ts';
import { readablePath } from './refs.ts';
import { branchWithProtection, gitCommit, shortBranch } from './render-git.ts';
import { repositoryApiUrl, repositoryHtmlUrl } from './render-repository.ts';
import type { Route } from './route.ts';
import { repositoryRoute } from './route.ts';

const BRANCH_PREFIX = 'refs/heads/';

export const contentRoutes: readonly Route[] = [
  repositoryRoute('GET', '/branches', 'branches/branches#list-branches', listBranches),
  repositoryRoute('GET', '/branches/:branch+', 'branches/branches#get-a-branch', getBranch),
  repositoryRoute('GET', '/git/commits/:sha', 'git/commits#get-a-commit-object', getCommit),
  repositoryRoute('GET', '/contents', 'repos/contents#get-repository-content', getContents),
  repositoryRoute('GET', '/contents/:path+', 'repos/contents#get-repository-content', getContents),
];

function listBranches(call: ApiCall, repository: Repository): Answer {
  const refs = [...readRefs(call.host.pathOf(repository))].filter(([ref]) => ref.startsWith(BRANCH_PREFIX));
  return page(call, refs, ([ref, oid]) =>
    shortBranch(call.host, repository, ref.slice(BRANCH_PREFIX.length), oid),
  );
}

async function getBranch(call: ApiCall, repository: Repository): Promise<Answer> {
  const { branch = '' } = call.params;
  const path = call.host.pathOf(repository);
  const oid = readRef(path, BRANCH_PREFIX + branch);
  const tip = oid === undefined ? undefined : await readCommit(path, oid);
  if (!tip) throw new Refusal(404, 'Branch not found');
  return json(200, branchWithProtection(call.host, repository, branch, tip));
}

async function getCommit(call: ApiCall, repository: Repository): Promise<Answer> {
  const { sha = '' } = call.params;
  if (!/^[0-9a-f]{40}$/.test(sha)) throw notFound();
  const commit = await readCommit(readablePath(call.host, repository), sha);
  if (!commit) throw notFound();
  return json(200, gitCommit(call.host, repository, commit));
}

async function getContents(call: ApiCall, repository: Repository): Promise<Answer> {
  const { host } = call;
  const gitPath = host.pathOf(repository);
  if (readRefs(gitPath).size === 0) throw new Refusal(404, 'This repository is empty.');
  const revision = call.url.searchParams.get('ref') ?? repository.defaultBranch;
  const oid = resolveRevision(gitPath, revision);
  if (oid === undefined) throw new Refusal(404, `No commit found for the ref ${revision}`);
  const path = (call.params['path'] ?? '').replace(/^\/+|\/+$/g, '');
  const result = await runGit(gitPath, ['cat-file', '--batch'], { input: `${oid}:${path}\n` });
  const headerEnd = result.stdout.indexOf(0x0a);
  const [blobOid = '', type] = result.stdout.toString('utf8', 0, headerEnd).split(' ');
  if (type === 'blob') {
    const bytes = result.stdout.subarray(headerEnd + 1, -1);
    const entry = { path, oid: blobOid, size: bytes.length, type: 'file' };
    const content = bytes.toString('base64').replace(/.{1,60}/g, '$&\n');
    return json(200, { ...renderEntry(call, repository, revision, entry), content, encoding: 'base64' });
  }
  if (type !== 'tree') throw notFound();
  const listing = await runGit(gitPath, ['ls-tree', '-l', '-z', '--full-tree', `${oid}:${path}`]);
  const entries = listing.stdout.toString().split('\0').filter(Boolean).map(parseTreeLine);
  return json(
    200,
    entries.map((entry) => {
      const entryPath = path === '' ? entry.path : `${path}/${entry.path}`;
      return renderEntry(call, repository, revision, { ...entry, path: entryPath });
    }),
  );
}

/** A branch, a tag or a full commit id, in GitHub's order. */
function resolveRevision(gitPath: string, revision: string): string | undefined {
  if (/^[0-9a-f]{40}$/.test(revision)) return revision;
  const names = revision.startsWith('refs/')
    ? [revision]
    : [BRANCH_PREFIX + revision, `refs/tags/${revision}`];
  return names.map((name) => readRef(gitPath, name)).find((oid) => oid !== undefined);
}

interface TreeEntry {
  readonly path: string;
  readonly oid: string;
  readonly size: number;
  readonly type: string;
}

/** `<mode> SP <type> SP <oid> SP* <size> TAB <name>`; GitHub has its own words for the types. */
function parseTreeLine(line: string): TreeEntry {
  const tab = line.indexOf('\t');
  const [mode = '', , oid = '', size = '-'] = line.slice(0, tab).split(/ +/);
  const types: Record<string, string> = { '040000': 'dir', '120000': 'symlink', '160000': 'submodule' };
  return { path: line.slice(tab + 1), oid, size: Number(size) || 0, type: types[mode] ?? 'file' };
}

function renderEntry(call: ApiCall, repository: Repository, revision: string, entry: TreeEntry) {
  const { host } = call;
  const encodedPath = entry.path.split('/').map(encodeURIComponent).join('/');
  const api = repositoryApiUrl(host, repository);
  const kind = entry.type === 'dir' ? 'tree' : 'blob';
  const url = `${api}/contents/${encodedPath}?ref=${encodeURIComponent(revision)}`;
  const gitUrl = `${api}/git/${kind}s/${entry.oid}`;
  const htmlUrl = `${repositoryHtmlUrl(host, repository)}/${kind}/${revision}/${encodedPath}`;
  return {
    name: entry.path.split('/').at(-1) ?? '',
    path: entry.path,
    sha: entry.oid,
    size: entry.size,
    url,
    html_url: htmlUrl,
    git_url: gitUrl,
    download_url: entry.type === 'file' ? `${htmlUrl}?raw=1` : null,
    type: entry.type,
    _links: { self: url, git: gitUrl, html: htmlUrl },
  };
}
