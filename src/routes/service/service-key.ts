/**
 * The service key (contract, section 5): with SERVICE_API_KEY set, these endpoints answer only those who send it in
 * `X-Service-Key`. Everything else is always public: Git, comments, issues, health, status and badges.
 */
import { Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { isSameSecret } from '../../secret/same-secret.ts';
import { answerRefused, refused } from '../request/refused.ts';

const KEYED_PATHS = ['/api/stats', '/api/recent-prs', '/api/pr-status/:hash', '/metrics'];

export const serviceKey = new Hono<AppEnv>();

for (const path of KEYED_PATHS) {
  serviceKey.use(path, async (c, next) => {
    const expected = c.var.config.serviceApiKey;
    if (expected === null || isSameSecret(c.req.header('X-Service-Key') ?? '', expected)) return next();
    return answerRefused(c, refused(401, 'API key required', { 'Cache-Control': 'no-store' }));
  });
}
