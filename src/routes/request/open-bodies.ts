/** Refuses the bodies that a client sends beside many others that still arrive. */
import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../../env.ts';
import { clientNetwork, prefixOf } from '../../limits/client.ts';
import { wideningOf } from '../../limits/claim.ts';
import { openBodies } from '../../streams/open-bodies.ts';
import { answerRefused, explained, NOT_KEPT } from './refused.ts';
import { prefersPage } from './repository.ts';

/** More than a browser or a Git client opens. nginx.conf lets no more through either. */
const MOST_OPEN = 64;
/** Git's requests; all others with a body are forms and JSON. */
const GIT = /\/git-(?:receive|upload)-pack$/;

const TOO_MANY = explained(
  503,
  'Too many requests of your network are still arriving',
  `At most ${MOST_OPEN} may at once. Send this again when others have ended.`,
  { 'Retry-After': '10', ...NOT_KEPT },
);

/** Counts a request before its body is read. One without a body is not counted. */
export const fewOpenBodies: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { raw, path } = c.req;
  if (raw.body === null) return next();
  const network = clientNetwork(raw, c.var.config.clientIpHeader);
  const prefix = prefixOf(network);
  const around = { key: prefix, most: MOST_OPEN * wideningOf({ network }) };
  const allowances = [{ key: network, most: MOST_OPEN }, ...(prefix === network ? [] : [around])];
  if (!openBodies.begin(raw, allowances, Date.now()))
    return answerRefused(c, TOO_MANY, GIT.test(path) ? 'text' : prefersPage(c) ? 'page' : 'json');
  try {
    return await next();
  } finally {
    openBodies.end(raw);
  }
};
