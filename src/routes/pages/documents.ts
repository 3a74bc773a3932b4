/**
 * Serves /privacy and /maintainers, with what people must know before they push, and before they
 * merge. /docs is served by src/routes/service/openapi.ts.
 */
import { type Context, Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { type DOCUMENTS, documentPage, documentText } from '../../pages/document-page.ts';
import { ICON, PRIVACY_PATH } from '../../pages/layout.ts';
import { MAINTAINERS_PATH } from '../../text/footer.ts';
import { offeredApp } from '../../service/offered-app.ts';
import { keptFor, shownOrigin } from '../request/public-origin.ts';
import { prefersPage } from '../request/repository.ts';
import { answerPage } from './answer-page.ts';

const KEPT_SECONDS = 300;
const KEPT_LONG = { 'Cache-Control': 'public, max-age=86400' };
/**
 * Keeps search engines out of `/admin/`, and out of `/v1/`, whose addresses name repositories,
 * pseudonyms, and hashes, which may be all that an update needs.
 */
const ROBOTS = 'User-agent: *\nDisallow: /v1/\nDisallow: /admin/\n';

export const documents = new Hono<AppEnv>();

documents.get(PRIVACY_PATH, (c) => answerDocument(c, 'privacy'));
documents.get(MAINTAINERS_PATH, (c) => answerDocument(c, 'maintainers'));
documents.get('/favicon.ico', (c) => c.body(ICON, 200, { 'Content-Type': 'image/svg+xml', ...KEPT_LONG }));
documents.get('/robots.txt', (c) => c.text(ROBOTS, 200, KEPT_LONG));

export async function answerDocument(c: Context<AppEnv>, name: keyof typeof DOCUMENTS): Promise<Response> {
  const { config } = c.var;
  const [host] = config.hosts;
  const app = name === 'maintainers' ? await offeredApp(c.env, host, null) : null;
  const shown = { origin: shownOrigin(c.req.raw, config), app };
  const kept = { 'Cache-Control': keptFor(KEPT_SECONDS, c.req.raw, config), Vary: 'Accept' };
  if (name !== 'api' && !prefersPage(c)) return c.text(documentText(name, config, shown), 200, kept);
  return answerPage(c, documentPage(name, config, shown), 200, kept);
}
