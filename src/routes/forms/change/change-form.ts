/**
 * Serves GET …/change, the form of a change: folders, the result of a search for files, or a file's
 * text to edit.
 * Proved by test/e2e/people/change-form.test.ts.
 */
import type { Context } from 'hono';
import { fileUrl } from '../../../config/hosts.ts';
import { parseEdits, usualTitle } from '../../../edit/file-edits.ts';
import { fileText, MAX_FILE_BYTES } from '../../../edit/lines.ts';
import type { AppEnv } from '../../../env.ts';
import { withPlainLineEnds } from '../../request/form-fields.ts';
import { decodeUtf8, NO_BYTES } from '../../../git/bytes.ts';
import { MovedError } from '../../../words/host-error.ts';
import { changeClosedPage } from '../../../pages/forms/change-pages.ts';
import {
  type ChangeFields,
  type ChangeForm,
  changeFormPage,
  NO_FIELDS,
} from '../../../pages/forms/edit-page.ts';
import { folderPage } from '../../../pages/forms/folder-page.ts';
import { WORKFLOWS } from '../../../policy/community-files.ts';
import { gateWords } from '../../../policy/gates.ts';
import { gateSentence, OPEN_POLICY, policyRefusal, workflowSentence } from '../../../policy/policy.ts';
import { fullName } from '../../../words/repository-name.ts';
import { MAX_DESCRIPTION_LENGTH, parsePushOptions } from '../../../push/receive/push-options.ts';
import { readMarkdown } from '../../../text/markdown.ts';
import { noiseProblem } from '../../../text/noise.ts';
import { findPath, readBlob } from '../../../upstream/tree-reader.ts';
import { pushHost } from '../../../service/open-push.ts';
import { memoryFor } from '../../../service/scope.ts';
import { untilAnswered } from '../../request/until-answered.ts';
import { knownPolicy } from '../../request/reading.ts';
import { answerRefused, explanationOf, type Refused } from '../../request/refused.ts';
import { CHANGE_FORM, remotePath } from '../../../pages/remote-paths.ts';
import { answerForm, frameOf, namedHash, type RequestedForm } from '../form.ts';
import { outlookOf } from '../known-first.ts';
import { type Chosen, chooseFile, listNothing, readChoice } from './choose-file.ts';
import { hostFailure, openSource, refuseReading, type ChangeSource } from './source.ts';
import { hostScopeOf, scopeOf } from '../../request/scope.ts';

export async function showChange(place: RequestedForm): Promise<Response> {
  const { c, target } = place;
  const prHash = namedHash(c.req.query('pr_hash'));
  if (typeof prHash !== 'string') return answerRefused(c, prHash, 'page');
  const pressed = c.req.query('new') === '1' ? 'add' : 'open';
  const choice = readChoice(c.req.query('path') ?? '', c.req.query('find') === '1' ? 'find' : pressed);
  const list = (listed: Extract<Chosen, { kind: 'list' }>) =>
    answerForm(c, folderPage({ ...place, ...listed, prHash, begun: null }), listed.status);
  if (choice.problem !== null) return list(listNothing(choice.path, choice.problem));
  const refused = await refuseReading(c);
  if (refused !== null) return answerRefused(c, refused, 'page');
  const { closed } = await outlookOf(place, 'pull_requests', null, prHash === '');
  if (closed !== null) return answerForm(c, changeClosedPage(place, closed));
  const memory = memoryFor(scopeOf(c));
  const read = async (): Promise<Response> => {
    const source = await openSource(c, pushHost(hostScopeOf(c), { memory }), target, prHash);
    if (source.kind === 'refused') return answerRefused(c, source, 'page');
    const chosen = await chooseFile(source, choice);
    if (chosen.kind === 'list') return list(chosen);
    return showFile(place, source, { path: chosen.path, blob: chosen.blob, pr_hash: prHash });
  };
  const failed = (error: unknown) =>
    error instanceof MovedError
      ? c.redirect(remotePath(c.var.host, error.to) + CHANGE_FORM + new URL(c.req.url).search, 302)
      : answerRefused(c, hostFailure(c, error), 'page');
  return untilAnswered(memory, read().catch(failed));
}

/** Shows a file to edit. A link may give its new text, the title and the description. */
async function showFile(
  place: RequestedForm,
  source: ChangeSource,
  named: Pick<ChangeFields, 'path' | 'pr_hash' | 'blob'>,
): Promise<Response> {
  const { blob, path } = named;
  const given = (name: string): string | null => {
    const value = place.c.req.query(name);
    return value === undefined ? null : withPlainLineEnds(value);
  };
  const file = fileText(blob === '' ? NO_BYTES : await readBlob(source.read, blob, MAX_FILE_BYTES));
  const text = file.kind === 'text' ? file.text : '';
  const form = await changeForm(place, {
    ...NO_FIELDS,
    ...named,
    seen: source.tip,
    text: given('text') ?? text,
    title: given('title') ?? source.text?.title ?? usualTitle([{ path, blob, text, isRemoved: false }]),
    // If the template cannot be read now, the form links to it.
    description:
      given('description') ?? source.text?.description ?? (await templateOf(place, source).catch(() => '')),
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
  const others = parseEdits(fields.others) ?? [];
  const workflows = [fields, ...others].map(({ path }) => path).filter((path) => WORKFLOWS.test(path));
  return {
    ...frame,
    fields,
    others,
    searched: [],
    needsKey: c.var.config.prUpdatePolicy === 'key',
    policy,
    warnings: [
      ...((closed ?? gate)?.split('\n') ?? []),
      ...checks.map((each) => gateWords(each, fullName(target))),
      ...(workflows.length === 0 ? [] : [workflowSentence(workflows)]),
    ],
    templateUrl: template && fileUrl(c.var.host, target, template),
  };
}

/** Shows the form once more, with what was typed, and what is wrong with it. */
export function showAgain(c: Context<AppEnv>, form: ChangeForm, refusal: Refused): Promise<Response> {
  const page = changeFormPage({ ...form, problem: explanationOf(refusal) });
  return answerForm(c, page, refusal.status, refusal.headers);
}
