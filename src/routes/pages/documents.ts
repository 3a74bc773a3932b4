/** GET /privacy and /maintainers: what people must know before they push, and before they merge. /docs: openapi.ts. */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { type DOCUMENTS, documentPage } from '../../pages/document-page.ts';
import { MAINTAINERS_PATH, PRIVACY_PATH } from '../../pages/layout.ts';
import { keptFor, shownOrigin } from '../request/public-origin.ts';
import { answerPage } from './answer-page.ts';

const KEPT_SECONDS = 300;

export const documents = new Hono<AppEnv>();

documents.get(PRIVACY_PATH, (c) => answerDocument(c, 'privacy'));
documents.get(MAINTAINERS_PATH, (c) => answerDocument(c, 'maintainers'));

export function answerDocument(c: Context<AppEnv>, name: keyof typeof DOCUMENTS): Promise<Response> {
  const { config } = c.var;
  const page = documentPage(name, config, shownOrigin(c.req.raw, config));
  return answerPage(c, page, 200, { 'Cache-Control': keptFor(KEPT_SECONDS, c.req.raw, config) });
}
