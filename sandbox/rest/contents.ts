/** Content of a repository: branches, commits, files and folders. */
import { type GitObject, readLooseObject, readRef, readRefs } from '../bare-repository.ts';
import { readCommit } from '../commits.ts';
import { mustRunGit, runGit } from '../git-command.ts';
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
  const loose = looseAt(gitPath, oid, path);
  const found = loose === undefined ? await packedAt(gitPath, oid, path) : loose;
  if (found?.type === 'blob') {
    const bytes = found.content;
    const entry = { path, oid: found.oid, size: bytes.length, type: 'file' };
    const content = bytes.toString('base64').replace(/.{1,60}/g, '$&\n');
    return json(200, { ...renderEntry(call, repository, revision, entry), content, encoding: 'base64' });
  }
  if (found?.type !== 'tree') throw notFound();
  const entries = [...treeEntries(found.content)];
  const sizes = await sizesOf(
    gitPath,
    entries.filter(({ mode }) => mode.startsWith('1') && mode !== SUBMODULE).map((entry) => entry.oid),
  );
  return json(
    200,
    entries.map(({ mode, name, oid: entryOid }) => {
      const entryPath = path === '' ? name : `${path}/${name}`;
      const entry = { path: entryPath, oid: entryOid, size: sizes.get(entryOid) ?? 0, type: typeOf(mode) };
      return renderEntry(call, repository, revision, entry);
    }),
  );
}

interface Found extends GitObject {
  readonly oid: string;
}

/**
 * Finds what a commit has at a path; `null` if it has nothing there. `undefined` if an object on
 * the way is not loose.
 */
function looseAt(gitPath: string, commit: string, path: string): Found | null | undefined {
  const text = readLooseObject(gitPath, commit)?.content.toString('latin1') ?? '';
  let oid = /^tree ([0-9a-f]{40})/.exec(text)?.[1] ?? '';
  let object = readLooseObject(gitPath, oid);
  for (const name of path === '' ? [] : path.split('/')) {
    if (object === undefined) return undefined;
    const entries = object.type === 'tree' ? [...treeEntries(object.content)] : [];
    const entry = entries.find((one) => one.name === name);
    if (entry === undefined) return null;
    oid = entry.oid;
    object = readLooseObject(gitPath, oid);
  }
  return object && { ...object, oid };
}

async function packedAt(gitPath: string, commit: string, path: string): Promise<Found | undefined> {
  const { stdout } = await runGit(gitPath, ['cat-file', '--batch'], { input: `${commit}:${path}\n` });
  const headerEnd = stdout.indexOf(0x0a);
  const [oid = '', type, size] = stdout.toString('utf8', 0, headerEnd).split(' ');
  return type === undefined || size === undefined
    ? undefined
    : { oid, type, content: stdout.subarray(headerEnd + 1, -1) };
}

/** Reads the sizes of blobs, by their ids. */
async function sizesOf(gitPath: string, oids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const loose = oids.map((oid) => readLooseObject(gitPath, oid)?.content.length);
  if (loose.every((size) => size !== undefined)) return new Map(oids.map((oid, at) => [oid, loose[at] ?? 0]));
  const format = '--batch-check=%(objectname) %(objectsize)';
  const listed = await mustRunGit(gitPath, ['cat-file', format], { input: `${oids.join('\n')}\n` });
  return new Map(
    listed
      .toString()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([oid = '', size]) => [oid, Number(size)]),
  );
}

/** Finds a branch, a tag or a full commit id, in GitHub's order. */
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

const SUBMODULE = '160000';

/** Translates a type into GitHub's word for it. */
function typeOf(mode: string): string {
  const types: Record<string, string> = { '40000': 'dir', '120000': 'symlink', [SUBMODULE]: 'submodule' };
  return types[mode] ?? 'file';
}

const ID_BYTES = 20;

/** Reads the entries of a tree. Each is `<mode> SP <name> NUL`, and the bytes of its id. */
function* treeEntries(tree: Buffer): Generator<{ mode: string; name: string; oid: string }> {
  for (let at = 0, next; at < tree.length; at = next) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, at);
    next = end + 1 + ID_BYTES;
    yield {
      mode: tree.toString('latin1', at, space),
      name: tree.toString('utf8', space + 1, end),
      oid: tree.toString('hex', end + 1, next),
    };
  }
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
