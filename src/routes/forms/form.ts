/**
 * The frame of pages with forms, and how a form that a person has sent is read, within bounds. Forms know no cookies,
 * but a limit counts for the address that sends one: so posts from pages of other sites are refused, and forms that the
 * service did not make. What was typed is never lost: a form with an old token is shown again, with a new one.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../../env.ts';
import { type FormFields, type FormSecrets, formSecrets, parseFormFields } from '../../forms/form-fields.ts';
import { HostError } from '../../host-error.ts';
import type { MemoryHold } from '../../isolate/memory-budget.ts';
import type { FormFrame, FormPlace } from '../../pages/forms/parts.ts';
import type { Page } from '../../pages/layout.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { type FormToken, newFormToken, readFormToken } from '../../secret/form-token.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { BodyError } from '../../streams/body-error.ts';
import { bodyText, chunksOf, discardBody } from '../../streams/body.ts';
import { answerPage } from '../pages/answer-page.ts';
import { isCrossSite } from '../request/payload.ts';
import { memoryFor, untilAnswered } from '../request/client.ts';
import { answerRefused, explained, type Refused } from '../request/refused.ts';
import { onRepositoryPage, remotePath } from '../request/repository.ts';

/** Going back empties the form in some browsers, because its page is not kept. */
export const SEND_AGAIN = 'Reload this page in a minute: your browser then sends what you wrote again.';

/** A page that has a token, or what someone has typed, is kept by nobody. */
export function answerForm(
  c: Context<AppEnv>,
  page: Page,
  status: ContentfulStatusCode = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return answerPage(c, page, status, { 'Cache-Control': 'no-store', ...headers });
}

export interface Place extends FormPlace {
  readonly c: Context<AppEnv>;
  readonly target: RepositoryName;
}

/** @param form one of the paths behind that of a remote. */
export function placeOf(c: Context<AppEnv>, target: RepositoryName, form: string): Place {
  const home = remotePath(c.var.host, target);
  return { c, target, repository: fullName(target), home, action: home + form };
}

export const onForm = (form: string, handle: (place: Place) => Promise<Response>) =>
  onRepositoryPage((c, target) => handle(placeOf(c, target, form)));

/** Handles what a form has sent. @param maxBytes of it. */
export const onSent = (
  form: string,
  maxBytes: number,
  answer: (place: Place, sent: SentForm) => Promise<Response>,
) => onForm(form, (place) => receiveForm(place.c, place.action, maxBytes, (sent) => answer(place, sent)));

/** @param token of the form that was sent; null: a new one. */
export async function frameOf(place: Place, token: string | null = null): Promise<FormFrame> {
  const { c, repository, home, action } = place;
  return { repository, home, action, token: token ?? (await newToken(c, action)), problem: null };
}

/** @param path that the form is sent to. */
export async function newToken(c: Context<AppEnv>, path: string): Promise<string> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  return newFormToken(secret, path, Date.now(), crypto.getRandomValues(new Uint8Array(8)));
}

/** @param typed what belongs to the form besides its token. */
export async function secretsOf(
  c: Context<AppEnv>,
  token: FormToken,
  typed: readonly string[],
): Promise<FormSecrets> {
  return formSecrets(await serviceSecret(c.env, c.var.config.identitySecret), token, typed);
}

/** `problem` says why it has to be sent again. */
export type SentForm =
  | { readonly fields: FormFields; readonly token: FormToken; readonly problem: null }
  | { readonly fields: FormFields; readonly token: null; readonly problem: string };

/** Of all fields, decoded: a file of 1 MB whose characters are all line ends. A page escapes some to six characters. */
const MAX_CHARACTERS = 2.5 * 1024 * 1024;

const EXPIRED = 'This form was open for more than a day. Check what you wrote, and send it again.';
const FORGED =
  'This service did not make this form, or made it for another page. Check it, and send it again.';
const BEGIN_AGAIN = 'Open the page of the repository on this service, and begin there.';
const CROSS_SITE = explained(403, 'This form came from another site', BEGIN_AGAIN);
const BEGIN_HERE = 'Open the form on this service in a browser, and send it from there.';
const NO_FORM = explained(400, 'This is not a form', BEGIN_HERE);
const COMPRESSED = explained(415, 'The form is compressed', 'Send it as it is, without Content-Encoding.');
const INCOMPLETE = explained(408, 'The form did not arrive completely', SEND_AGAIN);
const SHORTEN = 'Go back, and shorten what you wrote. Large changes need Git.';
const TOO_LARGE = explained(413, 'The form is too large', SHORTEN);

/** Reads the form that was sent, and answers it. @param path of its token. @param memory ends with the answer. */
export async function receiveForm(
  c: Context<AppEnv>,
  path: string,
  maxBytes: number,
  answer: (sent: SentForm) => Promise<Response>,
  memory: MemoryHold = memoryFor(c),
): Promise<Response> {
  const answering = readForm(c, path, maxBytes, memory).then((sent) =>
    'kind' in sent ? answerRefused(c, sent, 'page') : answer(sent),
  );
  return untilAnswered(memory, answering);
}

/** The form, or why it cannot be read. */
async function readForm(
  c: Context<AppEnv>,
  path: string,
  maxBytes: number,
  memory: MemoryHold,
): Promise<SentForm | Refused> {
  const limits = { maxBytes, timeoutMs: c.var.config.readTimeoutMs };
  const unread = async (refusal: Refused): Promise<Refused> => {
    // A browser that cannot send the rest never shows the answer.
    await discardBody(chunksOf(c.req.raw.body, { ...limits, pace: 'whole' }));
    return refusal;
  };
  if (isCrossSite(c.req.raw)) return unread(CROSS_SITE);
  if (!/^application\/x-www-form-urlencoded\b/i.test(c.req.header('Content-Type') ?? '')) {
    return unread({ ...NO_FORM, status: 415 });
  }
  // No browser compresses a form, and what unpacks to more would need a limit of its own.
  if (!/^(?:identity)?$/i.test(c.req.header('Content-Encoding') ?? '')) return unread(COMPRESSED);
  let text: string;
  try {
    text = await bodyText(c.req.raw, { ...limits, memory });
  } catch (error) {
    if (error instanceof HostError && error.code === 'busy') {
      return explained(503, 'The service is busy', `${error.publicMessage} ${SEND_AGAIN}`);
    }
    if (!(error instanceof BodyError)) throw error;
    return error.code === 'too-large' ? TOO_LARGE : INCOMPLETE;
  }
  const fields = parseFormFields(text);
  if (fields === null) return NO_FORM;
  if ([...fields.values()].reduce((sum, value) => sum + value.length, 0) > MAX_CHARACTERS) return TOO_LARGE;
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  const token = readFormToken(secret, path, fields.get('token') ?? '', Date.now());
  if (token === null) return { fields, token, problem: FORGED };
  return token === 'expired' ? { fields, token: null, problem: EXPIRED } : { fields, token, problem: null };
}
