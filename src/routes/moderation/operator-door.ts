/**
 * Opens the operator's pages with PANIC_PASSWORD or with an alert's token, and only by a POST,
 * because machines follow links, too. Opening counts like an attempt at the operator's endpoints.
 * It sets a signed cookie, with which requests of the next ten minutes do not count.
 * Proved by test/routes/moderation/delayed.test.ts.
 */
import type { Context } from 'hono';
import { getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { AppEnv } from '../../env.ts';
import type { FormFields } from '../request/form-fields.ts';
import { isAhead } from '../../isolate/clock.ts';
import { OPERATOR_PATH } from '../../notify/alert.ts';
import { guardOf } from '../../objects.ts';
import type { Page } from '../../pages/layout.ts';
import { doorPage, type OperatorDoor } from '../../pages/operator-page.ts';
import { keyedHash } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { answerPage } from '../pages/answer-page.ts';
import { isCrossSite, readSmallForm } from '../request/payload.ts';
import { shownOrigin } from '../request/public-origin.ts';
import { answerRefused, explained, NOT_KEPT, type Refused } from '../request/refused.ts';
import { credentialOf, refuseTooOften } from './operator-credential.ts';

const ACTION_TOKEN = /^[0-9a-f]{32}$/;
const COOKIE = 'gitveil-operator';
const LIFE_MS = 10 * 60 * 1000;

const NO_ACCESS = 'Neither the password nor the token is correct. A token works once, within ten minutes.';
const CLOSED = 'The ten minutes are over, and nothing was done. Open it again.';

/** Refuses a form that does not belong to the page. */
export function noForm({ path }: OperatorDoor): Refused {
  return explained(400, 'This is not a form of this page', openIt(path));
}

const openIt = (path: string): string => `Open ${path}, and send the form from there.`;

/** Handles what a page's form has sent: opens the pages, or calls `act` if they are open. */
export async function atDoor(
  c: Context<AppEnv>,
  door: OperatorDoor,
  act: (fields: FormFields) => Promise<Response>,
): Promise<Response> {
  if (isCrossSite(c.req.raw)) {
    return answerRefused(c, explained(403, 'This form came from another site', openIt(door.path)), 'page');
  }
  const fields = await readSmallForm(c);
  if (fields === null) return answerRefused(c, noForm(door), 'page');
  if (fields.has('password') || fields.has('token')) return open(c, door, fields);
  return (await isOpen(c)) ? act(fields) : showDoor(c, door, 401, CLOSED);
}

async function open(c: Context<AppEnv>, door: OperatorDoor, fields: FormFields): Promise<Response> {
  const tooOften = await refuseTooOften(c, ['admin']);
  if (tooOften !== null) return answerRefused(c, tooOften, 'page');
  const credential = await credentialOf(c, { password: fields.get('password'), token: fields.get('token') });
  if (credential === null || !(await guardOf(c.env).accepts(credential, 'review'))) {
    const guessed = await refuseTooOften(c, []);
    return guessed === null ? showDoor(c, door, 401, NO_ACCESS) : answerRefused(c, guessed, 'page');
  }
  await setCookie(c);
  c.var.logger.warn('the pages of the operator were opened');
  return c.redirect(door.path, 303);
}

/** Shows the form that opens the pages. */
export function showDoor(
  c: Context<AppEnv>,
  door: OperatorDoor,
  status: 200 | 401 = 200,
  problem: string | null = null,
): Promise<Response> {
  const token = c.req.method === 'POST' ? '' : (c.req.query('token') ?? '');
  const hasPassword = c.var.config.panicPassword !== null;
  return show(c, doorPage(door, ACTION_TOKEN.test(token) ? token : null, hasPassword, problem), status);
}

export function show(c: Context<AppEnv>, page: Page, status: 200 | 400 | 401 = 200): Promise<Response> {
  return answerPage(c, page, status, NOT_KEPT);
}

/** Answers whether the request has a valid cookie. */
export async function isOpen(c: Context<AppEnv>): Promise<boolean> {
  const until = await getSignedCookie(c, await cookieKey(c), COOKIE);
  return isAhead(Number(until), LIFE_MS, Date.now());
}

async function setCookie(c: Context<AppEnv>): Promise<void> {
  await setSignedCookie(c, COOKIE, `${Date.now() + LIFE_MS}`, await cookieKey(c), {
    path: OPERATOR_PATH,
    httpOnly: true,
    sameSite: 'Strict',
    // A proxy in front may terminate TLS, so the request itself does not tell.
    secure: shownOrigin(c.req.raw, c.var.config).startsWith('https:'),
    maxAge: LIFE_MS / 1000,
  });
}

async function cookieKey(c: Context<AppEnv>): Promise<string> {
  return keyedHash(await serviceSecret(c.env, c.var.config.identitySecret), 'review', 'cookie');
}
