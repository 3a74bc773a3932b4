/**
 * Git references. Reading branches needs no process. A change is one `git update-ref`, which checks
 * the object and, unless forced, one `git merge-base` that proves a fast-forward.
 */
import { readRef, readRefs } from '../bare-repository.ts';
import { mustRunGit, runGit } from '../git-command.ts';
import type { Host } from '../host.ts';
import type { Repository } from '../records.ts';
import type { Answer, ApiCall } from './api-call.ts';
import { Refusal, empty, json, notFound, requireViewer } from './api-call.ts';
import { repositoryApiUrl } from './render-repository.ts';
import { nodeId } from './render-user.ts';
import type { Route } from './route.ts';
import { repositoryRoute } from './route.ts';
import { requireWorkflowScope } from './workflow-scope.ts';

const OID = /^[0-9a-f]{40}$/;

export const refRoutes: readonly Route[] = [
  repositoryRoute('GET', '/git/ref/:ref+', 'git/refs#get-a-reference', getRef),
  repositoryRoute('GET', '/git/matching-refs/:ref+', 'git/refs#list-matching-references', matchingRefs),
  repositoryRoute('POST', '/git/refs', 'git/refs#create-a-reference', createRef),
  repositoryRoute('PATCH', '/git/refs/:ref+', 'git/refs#update-a-reference', updateRef),
  repositoryRoute('DELETE', '/git/refs/:ref+', 'git/refs#delete-a-reference', deleteRef),
];

async function getRef(call: ApiCall, repository: Repository): Promise<Answer> {
  const ref = calledRef(call);
  const oid = readRef(readablePath(call.host, repository), ref);
  if (oid === undefined) throw notFound();
  return json(200, await renderRef(call.host, repository, ref, oid));
}

async function matchingRefs(call: ApiCall, repository: Repository): Promise<Answer> {
  const refs = [...readRefs(readablePath(call.host, repository))].filter(([ref]) =>
    ref.startsWith(calledRef(call)),
  );
  return json(200, await Promise.all(refs.map(([ref, oid]) => renderRef(call.host, repository, ref, oid))));
}

async function createRef(call: ApiCall, repository: Repository): Promise<Answer> {
  const path = writablePath(call, repository);
  const { ref, sha } = call.payload;
  if (typeof ref !== 'string' || typeof sha !== 'string') {
    const missing = [typeof ref === 'string' ? '' : '"ref"', typeof sha === 'string' ? '' : '"sha"'];
    throw new Refusal(422, `Invalid request.\n\n${missing.filter(Boolean).join(', ')} wasn't supplied.`);
  }
  if (!/^refs\/[^/]+\/./.test(ref)) {
    throw new Refusal(422, 'Reference name must start with "refs/" and have at least two slashes.');
  }
  if (readRef(path, ref) !== undefined) throw new Refusal(422, 'Reference already exists');
  await writeRef(path, ref, sha, '0'.repeat(40));
  return refChanged(call.host, repository, ref, sha, 201);
}

async function updateRef(call: ApiCall, repository: Repository): Promise<Answer> {
  const path = writablePath(call, repository);
  const ref = calledRef(call);
  const { sha, force } = call.payload;
  const oldOid = readRef(path, ref);
  if (oldOid === undefined) throw new Refusal(422, 'Reference does not exist');
  if (typeof sha !== 'string') throw new Refusal(422, 'Invalid request.\n\n"sha" wasn\'t supplied.');
  if (force !== true && OID.test(sha)) {
    const forward = await runGit(path, ['merge-base', '--is-ancestor', oldOid, sha]);
    if (forward.code === 1) throw new Refusal(422, 'Update is not a fast forward');
  }
  const { store } = call.host;
  const parent = repository.parentId === null ? undefined : store.repositoryById(repository.parentId);
  if (parent && OID.test(sha)) await requireWorkflowScope(call.host, parent, oldOid, sha, 'ref');
  await writeRef(path, ref, sha, oldOid);
  return refChanged(call.host, repository, ref, sha, 200);
}

async function deleteRef(call: ApiCall, repository: Repository): Promise<Answer> {
  const path = writablePath(call, repository);
  const ref = calledRef(call);
  if (readRef(path, ref) === undefined) throw new Refusal(422, 'Reference does not exist');
  await runGit(path, ['update-ref', '-d', ref]);
  call.host.refsPushed(repository);
  return empty(204);
}

async function writeRef(path: string, ref: string, newOid: string, oldOid: string): Promise<void> {
  if (!OID.test(newOid)) throw new Refusal(422, 'The sha parameter must be exactly 40 characters.');
  const result = await runGit(path, ['update-ref', ref, newOid, oldOid]);
  if (result.code === 0) return;
  if (result.stderr.includes('refusing to update ref with bad name')) {
    throw new Refusal(422, `${ref} is not a valid ref name.`);
  }
  throw new Refusal(422, 'Object does not exist');
}

async function refChanged(
  host: Host,
  repository: Repository,
  ref: string,
  oid: string,
  status: number,
): Promise<Answer> {
  host.refsPushed(repository);
  return json(status, await renderRef(host, repository, ref, oid));
}

async function renderRef(host: Host, repository: Repository, ref: string, oid: string) {
  const url = repositoryApiUrl(host, repository);
  // A branch is always a commit. What a tag names has to be looked up.
  const type = ref.startsWith('refs/heads/') ? 'commit' : await objectType(host.pathOf(repository), oid);
  return {
    ref,
    node_id: nodeId('Ref', `${repository.id}:${ref}`),
    url: `${url}/git/${ref}`,
    object: { sha: oid, type, url: `${url}/git/${type}s/${oid}` },
  };
}

async function objectType(path: string, oid: string): Promise<string> {
  return (await mustRunGit(path, ['cat-file', '-t', oid])).toString().trim();
}

function calledRef(call: ApiCall): string {
  return `refs/${call.params['ref'] ?? ''}`;
}

/**
 * Finds the bare repository for reading refs. GitHub answers 409 for one that has no commits yet.
 */
export function readablePath(host: Host, repository: Repository): string {
  const path = host.pathOf(repository);
  if (readRefs(path).size === 0) throw new Refusal(409, 'Git Repository is empty.');
  return path;
}

function writablePath(call: ApiCall, repository: Repository): string {
  const viewer = requireViewer(call);
  if (viewer.login !== repository.owner) throw notFound();
  return readablePath(call.host, repository);
}
