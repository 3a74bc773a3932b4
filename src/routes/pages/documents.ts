/** GET /privacy and /maintainers: what people must know before they push, and before they merge. */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { documentPage } from '../../pages/document-page.ts';
import { MAINTAINERS, PRIVACY } from '../../pages/documents.ts';
import { MAINTAINERS_PATH, PRIVACY_PATH } from '../../pages/layout.ts';
import { keptFor, shownOrigin } from '../request/public-origin.ts';
import { answerPage } from './answer-page.ts';

const KEPT_SECONDS = 300;

export const documents = new Hono<AppEnv>();

documents.get(PRIVACY_PATH, (c) =>
  answerDocument(c, 'Privacy', 'Who learns what of a push without an account.', PRIVACY),
);

documents.get(MAINTAINERS_PATH, (c) =>
  answerDocument(c, 'For maintainers', 'What an anonymous pull request is, and how to say no.', MAINTAINERS),
);

function answerDocument(
  c: Context<AppEnv>,
  title: string,
  description: string,
  text: string,
): Response | Promise<Response> {
  const { config } = c.var;
  const page = documentPage(title, description, text, config, shownOrigin(c.req.raw, config));
  return answerPage(c, page, 200, { 'Cache-Control': keptFor(KEPT_SECONDS, c.req.raw, config) });
}
