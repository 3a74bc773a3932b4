/** The form of a change: its fields and the rules for them, and its answers when the host or a limit says no. */
import type { Context } from 'hono';
import { fileText } from '../../../edit/lines.ts';
import { parsePath } from '../../../edit/path.ts';
import { fileUrl } from '../../../config/hosts.ts';
import type { AppEnv } from '../../../env.ts';
import { type FormFields, withPlainLineEnds } from '../../../forms/form-fields.ts';
import { utf8 } from '../../../git/bytes.ts';
import type { Identity } from '../../../git/objects/commit.ts';
import { isOid, type Oid } from '../../../git/objects/oid.ts';
import { ProtocolError } from '../../../git/wire/protocol-error.ts';
import { HostError, MovedError } from '../../../host-error.ts';
import { type ChangeFields, type ChangeForm, changeFormPage } from '../../../pages/forms/change-pages.ts';
import { MAX_OWN_NAME } from '../../../pages/forms/parts.ts';
import { WORKFLOWS } from '../../../policy/community-files.ts';
import { type KnownPolicy, openPolicies } from '../../../policy/policies.ts';
import {
  gateSentence,
  OPEN_POLICY,
  type Policy,
  policyRefusal,
  workflowSentence,
} from '../../../policy/policy.ts';
import type { PushHost } from '../../../push/push-host.ts';
import { MAX_DESCRIPTION_LENGTH, parsePushOptions } from '../../../push/receive/push-options.ts';
import { pushHost } from '../../git/open-push.ts';
import { refuseTooMany } from '../../request/limits.ts';
import {
  answerRefused,
  explained,
  explanationOf,
  problem,
  type Refused,
  refuseWithoutBot,
} from '../../request/refused.ts';
import { CHANGE_FORM, remotePath } from '../../request/repository.ts';
import { answerForm, frameOf, type Place } from '../form.ts';

export function changeFields(fields: FormFields): ChangeFields {
  const value = (name: string): string => fields.get(name) ?? '';
  const oid = (name: string): Oid | null => (isOid(value(name)) ? value(name) : null);
  return {
    path: value('path'),
    blob: oid('blob'),
    seen: oid('seen'),
    text: withPlainLineEnds(value('text')),
    title: value('title').trim(),
    description: withPlainLineEnds(value('description')).trim(),
    ownName: value('own_name').trim(),
    prHash: value('pr_hash').trim().toLowerCase(),
    prKey: value('pr_key').trim().toLowerCase(),
    signOff: value('sign_off') !== '',
    ai: value('ai'),
    issue: value('issue').trim(),
  };
}

const invalid = (explanation: string): Refused => problem(400, explanation);

/** What can be said without asking anyone. */
export function checkFields(
  fields: ChangeFields,
): { readonly kind: 'valid'; readonly parts: readonly string[] } | Refused {
  const path = parsePath(fields.path);
  if (path.kind === 'invalid') return invalid(path.problem);
  if (path.parts.length === 0) return invalid('Write the path of the file.');
  const file = fileText(utf8(fields.text));
  if (file.kind === 'unfit') return invalid(file.problem);
  if (fields.title === '') return invalid('Write a title that says what you change.');
  if (fields.ownName.length > MAX_OWN_NAME) {
    return invalid(`Your name must have at most ${MAX_OWN_NAME} characters.`);
  }
  const parsed = parsePushOptions(pushOptionsOf(fields, { title: true, description: true }));
  if (parsed.kind === 'valid') return { kind: 'valid', parts: path.parts };
  // Its rule is for a push, which sends one line.
  const description = `The description must be a text of at most ${MAX_DESCRIPTION_LENGTH} characters.`;
  return invalid(parsed.option === 'description' ? description : `${parsed.message}.`);
}

/** @param texts which texts the pull request gets from the options instead of from the commit. */
export function pushOptionsOf(
  { title, description, prHash, prKey, signOff, ai, issue }: ChangeFields,
  texts: { readonly title: boolean; readonly description: boolean },
): string[] {
  return [
    ...(texts.title ? [`title=${title}`] : []),
    ...(texts.description ? [`description=${description}`] : []),
    ...(prHash === '' ? [] : [`pr-hash=${prHash}`]),
    ...(prKey === '' ? [] : [`pr-key=${prKey}`]),
    ...(signOff ? ['sign-off'] : []),
    ...(ai === '' ? [] : [`ai=${ai}`]),
    ...(issue === '' ? [] : [`issue=${issue}`]),
  ];
}

/** The author of the commit that is pushed, for whom the service searches and whom it then replaces. */
export function identityOf({ ownName }: Pick<ChangeFields, 'ownName'>, anonEmail: string): Identity {
  const text = ownName.replaceAll(/[<>\s\p{Cc}]+/gu, ' ');
  const email = text.split(' ').find((word) => /.@./.test(word)) ?? '';
  return { name: text.replace(email, '').trim(), email: email === '' ? anonEmail : email };
}

/** @param token of the form that was sent; null: a new one. */
export async function changeForm(
  place: Place,
  fields: ChangeFields,
  token: string | null = null,
): Promise<ChangeForm> {
  const { c, target } = place;
  const [frame, policy] = await Promise.all([frameOf(place, token), readPolicy(place)]);
  const { path, prHash, description } = fields;
  const isNew = prHash === '';
  const gate =
    policyRefusal(policy, target, 'pull_requests') ?? (isNew ? gateSentence(target, policy) : null);
  const template = isNew && description === '' ? policy.community.template : null;
  return {
    ...fields,
    ...frame,
    needsKey: c.var.config.prUpdatePolicy === 'key',
    policy,
    warnings: [gate?.split('\n') ?? [], WORKFLOWS.test(path) ? workflowSentence([path]) : []].flat(),
    templateUrl: template && fileUrl(c.var.host, target, template),
  };
}

/** As far as it is known. */
export async function readPolicy(place: Pick<Place, 'c' | 'target'>): Promise<Policy> {
  return (await knownPolicy(place)) ?? OPEN_POLICY;
}

/** It is read with Git, as for a page, and the form can be polled like one. */
export function knownPolicy({ c, target }: Pick<Place, 'c' | 'target'>): Promise<KnownPolicy> {
  const { config, host, logger, http } = c.var;
  const mayAsk = async (): Promise<boolean> => (await countReading(c)) === null;
  return openPolicies(c.env, config, host, logger, http).of(target, { mayAsk, isPolled: true });
}

/** The form once more, with what was typed, and what is wrong with it. */
export function showAgain(c: Context<AppEnv>, form: ChangeForm, refusal: Refused): Promise<Response> {
  const page = changeFormPage({ ...form, problem: explanationOf(refusal) });
  return answerForm(c, page, refusal.status, refusal.headers);
}

const readings = new WeakMap<Context<AppEnv>, Promise<Refused | null>>();

/** Counts a request's reading once, whatever it reads. Null: it may begin. */
function countReading(c: Context<AppEnv>): Promise<Refused | null> {
  const reading = readings.get(c) ?? refuseTooMany(c, 'discoveries');
  readings.set(c, reading);
  return reading;
}

/** Each reading costs the code host calls, so it counts like a clone. Null: it may begin. */
export async function refuseReading(c: Context<AppEnv>): Promise<Refused | null> {
  return refuseWithoutBot(c) ?? (await countReading(c));
}

const FAULTY_HOST = 'The code host does not answer as expected';

/** Why the host did not show what was asked for. @throws whatever else went wrong */
export function hostFailure(c: Context<AppEnv>, error: unknown): Refused {
  if (error instanceof HostError) {
    const { code, publicMessage } = error;
    if (code === 'missing') return explained(404, 'No such repository', publicMessage);
    const isBusy = code === 'busy' || code === 'rate-limited';
    return isBusy ? explained(503, 'Not now', publicMessage) : explained(502, FAULTY_HOST, publicMessage);
  }
  if (!(error instanceof ProtocolError)) throw error;
  c.var.logger.warn('the code host sent something malformed', { error });
  return explained(502, FAULTY_HOST, `${error.publicMessage} Try again later.`);
}

/** Reads; what fails becomes a page. Continues also if the person leaves, until the memory is given back. */
export async function answerReading(
  c: Context<AppEnv>,
  read: (host: PushHost) => Promise<Response>,
): Promise<Response> {
  const refused = await refuseReading(c);
  if (refused !== null) return answerRefused(c, refused, 'page');
  const host = pushHost(c);
  const failed = (error: unknown) =>
    error instanceof MovedError
      ? c.redirect(remotePath(c.var.host, error.to) + CHANGE_FORM + new URL(c.req.url).search, 302)
      : answerRefused(c, hostFailure(c, error), 'page');
  const reading = read(host)
    .catch(failed)
    .finally(() => host.memory.end());
  c.executionCtx.waitUntil(reading.catch(() => {}));
  return reading;
}
