/** Pages with forms, and the tokens in them. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../../env.ts';
import { newFormToken } from '../../secret/form-token.ts';
import { fullName, type RepositoryName } from '../../repository-name.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import type { FormFrame } from '../../pages/forms/form-page.ts';
import type { Page } from '../../pages/layout.ts';
import { answerPage } from '../pages/answer-page.ts';
import { remotePath } from '../request/remote-path.ts';

/** Going back empties the form in some browsers, because its page is not kept. */
export const SEND_AGAIN = 'Reload this page in a minute: your browser then sends what you wrote again.';

type Answer = Response | Promise<Response>;

/** A page that has a token, or what someone has typed, is kept by nobody. */
export function answerForm(
  c: Context<AppEnv>,
  page: Page,
  status: ContentfulStatusCode = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return answerPage(c, page, status, { 'Cache-Control': 'no-store', ...headers });
}

/** @param form one of src/routes/forms/paths.ts. */
export function placeOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  form: string,
): Pick<FormFrame, 'repository' | 'home' | 'action'> {
  const home = remotePath(c.var.host, target);
  return { repository: fullName(target), home, action: home + form };
}

/** @param token of the form that was sent; null: a new one. */
export async function frameOf(
  c: Context<AppEnv>,
  target: RepositoryName,
  form: string,
  token: string | null = null,
): Promise<FormFrame> {
  const place = placeOf(c, target, form);
  return { ...place, token: token ?? (await newToken(c, place.action)), problem: null };
}

/** @param path that the form is sent to. */
export async function newToken(c: Context<AppEnv>, path: string): Promise<string> {
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  return newFormToken(secret, path, Date.now(), crypto.getRandomValues(new Uint8Array(8)));
}
