/**
 * Makes the frame of forms, and reads the forms that are sent, within bounds. Posts from other
 * sites are refused. A form with an old token, or with one that the service did not make, is shown
 * again, so that nothing typed is lost.
 * Proved by test/e2e/people/thread-form.test.ts and test/e2e/people/change-form.test.ts.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../../env.ts';
import {
  type FormFields,
  type FormSecrets,
  formSecrets,
  MAX_FIELDS,
  parseFormFields,
} from '../request/form-fields.ts';
import type { CommitIdentity } from '../../git/objects/commit.ts';
import { HostError } from '../../words/host-error.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import type { FormFrame, FormPlace } from '../../pages/forms/parts.ts';
import type { Page } from '../../pages/layout.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { type FormToken, newFormToken, readFormToken } from '../../secret/form-token.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { BodyError } from '../../streams/body-error.ts';
import { chunksOf, discardBody } from '../../streams/body.ts';
import { bodyText } from '../../streams/body-text.ts';
import { answerPage } from '../pages/answer-page.ts';
import { memoryFor } from '../../service/scope.ts';
import { untilAnswered } from '../request/until-answered.ts';
import { isCrossSite, isEmbedded, isForm } from '../request/payload.ts';
import { answerRefused, explained, type Refused } from '../request/refused.ts';
import { onRepositoryPage } from '../request/repository.ts';
import { remotePath } from '../../pages/remote-paths.ts';
import { PR_HASH_PATTERN } from '../../words/pr-hash.ts';
import { scopeOf } from '../request/scope.ts';

/**
 * Advice to reload: going back empties the form in some browsers, because its page is not cached.
 */
export const SEND_AGAIN = 'Reload this page in a minute: your browser then sends what you wrote again.';
export const NO_NAME = 'You gave no name, so nothing was searched for. Check the text yourself.';

/**
 * Bounds all fields together, decoded: they have room for a file of 1 MB that is all line ends,
 * which browsers send as two characters each.
 */
const MAX_CHARACTERS = 2.5 * 1024 * 1024;

const EXPIRED = 'This form was open for more than a day. Check what you wrote, and send it again.';
const FORGED =
  'This service did not make this form, or made it for another page. Check it, and send it again.';
const BEGIN_AGAIN = 'Open the page of the repository on this service, and begin there.';
export const CROSS_SITE = explained(403, 'This form came from another site', BEGIN_AGAIN);
const BEGIN_HERE = 'Open the form on this service in a browser, and send it from there.';
export const NO_FORM = explained(400, 'This is not a form', BEGIN_HERE);
const COMPRESSED = explained(415, 'The form is compressed', 'Send it as it is, without Content-Encoding.');
export const INCOMPLETE = explained(408, 'The form did not arrive completely', SEND_AGAIN);
const SHORTEN = 'Go back, and shorten what you wrote. Large changes need Git.';
const TOO_LARGE = explained(413, 'The form is too large', SHORTEN);

/** Answers with a page that must not be cached, as it has a token or what somebody has typed. */
export function answerForm(
  c: Context<AppEnv>,
  page: Page,
  status: ContentfulStatusCode = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return answerPage(c, page, status, { 'Cache-Control': 'no-store', ...headers });
}

export interface RequestedForm extends FormPlace {
  readonly c: Context<AppEnv>;
  readonly target: RepositoryName;
}

/** @param form the form's path below that of the remote. */
export function requestedForm(c: Context<AppEnv>, target: RepositoryName, form: string): RequestedForm {
  const home = remotePath(c.var.host, target);
  return { c, target, repository: fullName(target), home, action: home + form };
}

export const onForm = (form: string, handle: (place: RequestedForm) => Promise<Response>) =>
  onRepositoryPage((c, target) => {
    // What was posted is refused once it was read.
    const isLoaded = c.req.method !== 'POST' && isEmbedded(c.req.raw);
    return isLoaded ? answerRefused(c, CROSS_SITE, 'page') : handle(requestedForm(c, target, form));
  });

/** Bounds a form that is sent: its bytes, and how many fields it has. */
interface FormBounds {
  readonly maxBytes: number;
  readonly maxFields?: number;
}

type Answer = (sent: SentForm, memory: MemoryHold) => Promise<Response>;

/** Makes the handler of a form that was sent. */
export const onSent = (
  form: string,
  maxBytes: number,
  answer: (place: RequestedForm, ...sent: Parameters<Answer>) => Promise<Response>,
  maxFields = MAX_FIELDS,
) =>
  onForm(form, (place) =>
    receiveForm(place.c, place.action, { maxBytes, maxFields }, (...sent) => answer(place, ...sent)),
  );

/** @param token that of the form that was sent; null for a new one. */
export async function frameOf(place: RequestedForm, token: string | null = null): Promise<FormFrame> {
  return { ...place, token: token ?? (await newToken(place.c, place.action)), problem: null };
}

export async function newToken(c: Context<AppEnv>, path: string): Promise<string> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  return newFormToken(secret, path, Date.now(), crypto.getRandomValues(new Uint8Array(8)));
}

/** @param typed values that the secrets depend on, besides the form's token. */
export async function secretsOf(
  c: Context<AppEnv>,
  token: FormToken,
  typed: readonly string[],
): Promise<FormSecrets> {
  return formSecrets(await serviceSecret(c.env, c.var.config.identitySecret), token, typed);
}

/**
 * Reads a typed name and address. The service searches for them, and then replaces them by the
 * bot's.
 * @param ownName as it was typed.
 */
export function typedIdentity(ownName: string, anonEmail: string): CommitIdentity {
  const text = ownName.replaceAll(/[<>\s\p{Cc}]+/gu, ' ');
  const email = text.split(' ').find((word) => /.@./.test(word)) ?? '';
  return { name: text.replace(email, '').trim(), email: email === '' ? anonEmail : email };
}

const NO_HASH = explained(400, 'No such pull request', 'A hash has 8 to 40 hexadecimal characters.');

/** Reads which pull request a form or its address names; empty: none. */
export function namedHash(text: string | undefined): string | Refused {
  const hash = (text ?? '').trim().toLowerCase();
  return hash === '' || PR_HASH_PATTERN.test(hash) ? hash : NO_HASH;
}

/** The form that was sent. `problem` says why it has to be sent again. */
export type SentForm = { readonly fields: FormFields } & CheckedToken;

/**
 * Reads the form that was sent, and answers it, with a memory hold that ends with the answer.
 * @param path the path for which its token must have been made.
 */
export function receiveForm(
  c: Context<AppEnv>,
  path: string,
  bounds: FormBounds,
  answer: Answer,
): Promise<Response> {
  const memory = memoryFor(scopeOf(c));
  const answering = async (): Promise<Response> => {
    const fields = await readFields(c, bounds, memory);
    if ('kind' in fields) return answerRefused(c, fields, 'page');
    return answer({ fields, ...(await tokenOf(c, path, fields)) }, memory);
  };
  return untilAnswered(memory, answering());
}

type CheckedToken =
  { readonly token: FormToken; readonly problem: null } | { readonly token: null; readonly problem: string };

/**
 * Checks the token of a form that was sent.
 * @param path the path for which it must have been made.
 */
export async function tokenOf(c: Context<AppEnv>, path: string, fields: FormFields): Promise<CheckedToken> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const token = readFormToken(secret, path, fields.get('token') ?? '', Date.now());
  if (token !== null && token !== 'expired') return { token, problem: null };
  return { token: null, problem: token === null ? FORGED : EXPIRED };
}

async function readFields(
  c: Context<AppEnv>,
  { maxBytes, maxFields = MAX_FIELDS }: FormBounds,
  memory: MemoryHold,
): Promise<FormFields | Refused> {
  const limits = { maxBytes, timeoutMs: c.var.config.readTimeoutMs };
  const isForeign = isCrossSite(c.req.raw);
  // No browser compresses a form, and inflating one would need a limit of its own.
  const isPlain = /^(?:identity)?$/i.test(c.req.header('Content-Encoding') ?? '');
  if (isForeign || !isForm(c) || !isPlain) {
    // The body is read to its end, because a browser that cannot send it never shows the answer.
    await discardBody(chunksOf(c.req.raw.body, { ...limits, pace: 'whole' }));
    if (isForeign) return CROSS_SITE;
    return isForm(c) ? COMPRESSED : { ...NO_FORM, status: 415 };
  }
  try {
    const fields = parseFormFields(await bodyText(c.req.raw, { ...limits, memory }), maxFields);
    if (fields === null) return NO_FORM;
    const characters = [...fields.values()].reduce((sum, value) => sum + value.length, 0);
    return characters > MAX_CHARACTERS ? TOO_LARGE : fields;
  } catch (error) {
    if (error instanceof HostError && error.code === 'busy')
      return explained(503, 'The service is busy', `${error.publicMessage} ${SEND_AGAIN}`);
    if (!(error instanceof BodyError)) throw error;
    return error.code === 'too-large' ? TOO_LARGE : INCOMPLETE;
  }
}
