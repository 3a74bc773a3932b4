/**
 * Refuses what a browser loads before anybody has followed a link (`Sec-Purpose`). Any page can ask
 * for that by Speculation Rules, unseen, and Chromium sends it as if somebody had typed the address
 * (`Sec-Fetch-Site: none`). It would spend what the readers of that page may ask of a code host. A
 * browser that was refused asks again when somebody follows the link.
 * Proved by test/e2e/people/conversation.test.ts and test/browser/other-site.test.ts.
 */
import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../../env.ts';
import { answerRefused, NOT_KEPT, refused } from '../request/refused.ts';

const AHEAD = refused(503, 'nothing here is loaded before somebody follows a link', NOT_KEPT);

export const refusePrefetch: MiddlewareHandler<AppEnv> = async (c, next) => {
  const isAhead = /^prefetch\b/.test(c.req.header('Sec-Purpose') ?? '');
  return isAhead ? answerRefused(c, AHEAD) : next();
};
