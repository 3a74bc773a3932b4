/**
 * Serves GET …/change, the form of a change: folders, the result of a search for files, or a file's
 * text to edit.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import type { Context } from 'hono';
import { fileUrl } from '../../../config/hosts.ts';
import { fileText, MAX_FILE_BYTES } from '../../../edit/lines.ts';
import { parsePath } from '../../../edit/path.ts';
import type { AppEnv } from '../../../env.ts';
import { withPlainLineEnds } from '../../request/form-fields.ts';
import { decodeUtf8 } from '../../../git/bytes.ts';
import { kindOf } from '../../../git/objects/tree.ts';
import { MovedError } from '../../../words/host-error.ts';
import {
  changeClosedPage,
  type ChangeFields,
  type ChangeForm,
  changeFormPage,
  NO_FIELDS,
} from '../../../pages/forms/change-pages.ts';
import { folderPage, type ListedEntry } from '../../../pages/forms/folder-page.ts';
import { WORKFLOWS } from '../../../policy/community-files.ts';
import { gateWords } from '../../../policy/gates.ts';
import { gateSentence, OPEN_POLICY, policyRefusal, workflowSentence } from '../../../policy/policy.ts';
import { fullName } from '../../../words/repository-name.ts';
import { PR_HASH_PATTERN } from '../../../words/pr-hash.ts';
import { MAX_DESCRIPTION_LENGTH, parsePushOptions } from '../../../push/receive/push-options.ts';
import { readMarkdown } from '../../../text/markdown.ts';
import { noiseProblem } from '../../../text/noise.ts';
import { findPath, type Folder, type FoundPath, listFiles, readBlob } from '../../../upstream/tree-reader.ts';
import { pushHost } from '../../../service/open-push.ts';
import { memoryFor } from '../../../service/scope.ts';
import { untilAnswered } from '../../request/until-answered.ts';
import { answerRefused, explained, explanationOf, type Refused } from '../../request/refused.ts';
import { CHANGE_FORM, remotePath } from '../../../pages/remote-paths.ts';
import { answerForm, frameOf, type RequestedForm } from '../form.ts';
import { outlookOf } from '../known-first.ts';
import { hostFailure, knownPolicy, openSource, refuseReading, type ChangeSource } from './source.ts';
import { hostScopeOf, scopeOf } from '../../request/scope.ts';

const WRITE_A_PATH = 'Write the path of a file first, such as docs/guide.md.';
const IS_FOLDER = 'There is a folder of this name. Write the path of the file.';
const TOO_MANY_FILES =
  'This repository has too many files to look through them here. Write the whole path, or open its folders.';
const NO_MATCH = 'No file has this in its path. Write less of it, or add the file.';
const NO_HASH = explained(400, 'No such pull request', 'A hash has 8 to 40 hexadecimal characters.');

export async function showChange(place: RequestedForm): Promise<Response> {
  const { c, target } = place;
  const prHash = (c.req.query('pr_hash') ?? '').trim().toLowerCase();
  if (prHash !== '' && !PR_HASH_PATTERN.test(prHash)) return answerRefused(c, NO_HASH, 'page');
  const typed = c.req.query('path') ?? '';
  const wantsFind = c.req.query('find') === '1';
  const wantsNew = c.req.query('new') === '1';
  const isSearch = wantsFind && typed !== '';
  const path = isSearch ? typed.trim() : typed;
  const parsed = parsePath(path);
  const list = (entries: ListedEntry[], folder: string, problem: string | null, status: 200 | 400 | 404) =>
    answerForm(c, folderPage({ ...place, path, folder, entries, problem, prHash }), status);
  if (parsed.kind === 'invalid' && !isSearch) return list([], '', parsed.problem, 400);
  const refused = await refuseReading(c);
  if (refused !== null) return answerRefused(c, refused, 'page');
  const { closed } = await outlookOf(place, 'pull_requests', null, prHash === '');
  if (closed !== null) return answerForm(c, changeClosedPage(place, closed));
  const memory = memoryFor(scopeOf(c));
  const read = async (): Promise<Response> => {
    const source = await openSource(c, pushHost(hostScopeOf(c), { memory }), target, prHash);
    if (source.kind === 'refused') return answerRefused(c, source, 'page');
    const parts = parsed.kind === 'path' ? parsed.parts : null;
    const found = parts && (await findPath(source.read, source.root, parts));
    if (found?.kind === 'file' || (found?.kind === 'missing' && wantsNew))
      return showFile(place, source, {
        path,
        pr_hash: prHash,
        blob: found.kind === 'file' ? found.blob : '',
      });
    // The search is for files whose path contains the text, without regard to case.
    if (isSearch || parts === null || found === null) {
      const all = await listFiles(source.read, source.root);
      const files = (all ?? []).filter((file) => file.toLowerCase().includes(path.toLowerCase()));
      const problem = all === null ? TOO_MANY_FILES : files.length === 0 ? NO_MATCH : null;
      const entries = files.map((file) => ({ kind: 'file', name: file, path: file }) as const);
      return list(entries, '', problem, problem === null ? 200 : 404);
    }
    if (found.kind === 'folder') {
      const problem = path === '' && (wantsFind || wantsNew) ? WRITE_A_PATH : wantsNew ? IS_FOLDER : null;
      return list(entriesOf(found.folders.at(-1) ?? [], path), path, problem, 200);
    }
    // The nearest folder that exists helps to find the file.
    const folders = found.kind === 'missing' ? found.folders : [];
    const above = parts.slice(0, Math.max(0, folders.length - 1)).join('/');
    return list(entriesOf(folders.at(-1) ?? [], above), above, pathProblem(found, parts), 404);
  };
  const failed = (error: unknown) =>
    error instanceof MovedError
      ? c.redirect(remotePath(c.var.host, error.to) + CHANGE_FORM + new URL(c.req.url).search, 302)
      : answerRefused(c, hostFailure(c, error), 'page');
  return untilAnswered(memory, read().catch(failed));
}

function entriesOf(folder: Folder, path: string): ListedEntry[] {
  return folder.map((entry) => {
    const name = decodeUtf8(entry.name);
    const whole = name !== null && path !== '' ? `${path}/${name}` : name;
    return { kind: kindOf(entry), name: name ?? Buffer.from(entry.name).toString(), path: whole };
  });
}

type NoFile = Exclude<FoundPath, { kind: 'file' }>;

/** Problems with a path. Those that begin with a space follow the name of where the path ends. */
const NO_FILE: Readonly<Record<NoFile['kind'], string>> = {
  missing: 'There is no such file. Correct the path, or add the file.',
  folder: 'This is a folder. Write the path of a file in it.',
  'too-large': 'The folders on the way have too many files to be read here. Change the file with Git.',
  symlink: ' is a symbolic link. Change the file that it leads to, or use Git.',
  submodule: ' is a submodule: its files belong to another repository.',
  'file-as-folder': ' is a file, and has no files in it.',
};

export function pathProblem(found: NoFile, parts: readonly string[]): string {
  const place = 'place' in found ? `“${parts.slice(0, found.place).join('/')}”` : '';
  return place + NO_FILE[found.kind];
}

async function showFile(
  place: RequestedForm,
  source: ChangeSource,
  named: Pick<ChangeFields, 'path' | 'pr_hash' | 'blob'>,
): Promise<Response> {
  const { blob } = named;
  const file = fileText(blob === '' ? new Uint8Array() : await readBlob(source.read, blob, MAX_FILE_BYTES));
  const form = await changeForm(place, {
    ...NO_FIELDS,
    ...named,
    seen: source.tip,
    text: file.kind === 'text' ? file.text : '',
    title: source.text?.title ?? '',
    // If the template cannot be read now, the form links to it.
    description: source.text?.description ?? (await templateOf(place, source).catch(() => '')),
  });
  return answerForm(place.c, changeFormPage(file.kind === 'unfit' ? { ...form, unfit: file.problem } : form));
}

/**
 * Reads the template for pull requests; '' if there is none, or several, or the form would refuse
 * it.
 */
async function templateOf({ c, target }: RequestedForm, { read, root }: ChangeSource): Promise<string> {
  const template = (await knownPolicy(c, target))?.community.template;
  const found = template ? await findPath(read, root, template.split('/')) : null;
  const content = found?.kind === 'file' ? await readBlob(read, found.blob, MAX_FILE_BYTES) : null;
  const text = withPlainLineEnds((content && decodeUtf8(content)) ?? '').replace(/^\uFEFF/, '');
  if (text.length > MAX_DESCRIPTION_LENGTH) return '';
  const isDescription = parsePushOptions([`description=${text}`]).kind === 'valid';
  const where = { hostUrl: c.var.host.url, repository: target };
  return isDescription && noiseProblem({ description: readMarkdown(text) }, where) === null ? text : '';
}

/** @param token that of the form that was sent; null for a new one. */
export async function changeForm(
  place: RequestedForm,
  fields: ChangeFields,
  token: string | null = null,
): Promise<ChangeForm> {
  const { c, target } = place;
  const [frame, known] = await Promise.all([frameOf(place, token), knownPolicy(c, target)]);
  const policy = known ?? OPEN_POLICY;
  const isNew = fields.pr_hash === '';
  const gate = isNew ? gateSentence(target, policy) : null;
  const closed = policyRefusal(policy, target, 'pull_requests');
  const checks = isNew ? policy.community.gates.filter((each) => each.asks !== 'vouch') : [];
  const template = isNew && fields.description === '' ? policy.community.template : null;
  const ofPath = WORKFLOWS.test(fields.path) ? [workflowSentence([fields.path])] : [];
  return {
    ...frame,
    fields,
    needsKey: c.var.config.prUpdatePolicy === 'key',
    policy,
    warnings: [
      ...((closed ?? gate)?.split('\n') ?? []),
      ...checks.map((each) => gateWords(each, fullName(target))),
      ...ofPath,
    ],
    templateUrl: template && fileUrl(c.var.host, target, template),
  };
}

/** Shows the form once more, with what was typed, and what is wrong with it. */
export function showAgain(c: Context<AppEnv>, form: ChangeForm, refusal: Refused): Promise<Response> {
  const page = changeFormPage({ ...form, problem: explanationOf(refusal) });
  return answerForm(c, page, refusal.status, refusal.headers);
}
