/** GET /docs: the API's description as a page that loads nothing. */
import { Hono } from 'hono';
import type { AppEnv } from '../env.ts';
import type { ApiDocument } from '../pages/api/document.ts';
import { apiPage } from '../pages/api/page.ts';
import { apiDescription } from './openapi.ts';
import { answerPage } from './page.ts';
import { publicOrigin } from './public-origin.ts';

export const docs = new Hono<AppEnv>();

docs.get('/docs', async (c) => {
  const document = await apiDescription(publicOrigin(c.req.raw, c.var.config.serviceUrl));
  return answerPage(c, apiPage(document as unknown as ApiDocument), 200, {
    'Cache-Control': 'public, max-age=300',
  });
});
