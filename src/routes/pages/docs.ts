/** GET /docs: the API's description as a page that loads nothing. */
import { Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { ApiDocument } from '../../pages/api/document.ts';
import { apiPage } from '../../pages/api/page.ts';
import { apiDescription } from '../service/openapi.ts';
import { answerPage } from './page.ts';
import { keptFor, publicOrigin } from '../request/public-origin.ts';

const KEPT_SECONDS = 300;

export const docs = new Hono<AppEnv>();

docs.get('/docs', async (c) => {
  const origin = publicOrigin(c.req.raw, c.var.config);
  const document = await apiDescription(origin);
  return answerPage(c, apiPage(document as unknown as ApiDocument, c.var.config.limits), 200, {
    'Cache-Control': keptFor(KEPT_SECONDS, c.var.config),
  });
});
