/**
 * GET /: the front page in a browser, a few lines in a terminal. Data that is unavailable is left out; the page itself
 * is always shown.
 */
import { type Context, Hono } from 'hono';
import { systemClock } from '../../clock.ts';
import type { AppEnv } from '../../env.ts';
import { parseRepositoryText, PLACEHOLDER } from '../../pages/commands.ts';
import { frontPage as renderFrontPage, frontText } from '../../pages/front-page.ts';
import { openStatistics } from '../../stats/statistics.ts';
import { answerPage, preferredType } from './page.ts';
import { keptFor, publicOrigin } from '../request/public-origin.ts';
import { suspensionOf } from '../request/suspension.ts';

/** The numbers on the page are just as old. */
const KEPT_SECONDS = 5;

export const frontPage = new Hono<AppEnv>();

frontPage.get('/', async (c) => {
  const { config, logger, http } = c.var;
  const text = c.req.query('repo') ?? '';
  const path = parseRepositoryText(text, config.hosts);
  const origin = publicOrigin(c.req.raw, config);
  const page = {
    text,
    hosts: config.hosts,
    path: path ?? PLACEHOLDER,
    isNamed: path !== null,
    remoteBase: `${origin}/v1/`,
  };
  const headers = { 'Cache-Control': keptFor(KEPT_SECONDS, config), Vary: 'Accept' };
  if (preferredType(c, ['text/html', 'text/plain'], 'text/plain') === 'text/plain') {
    return c.text(frontText(page, config), 200, headers);
  }
  // Does not show what requires the service's key.
  const statistics = config.serviceApiKey === null ? openStatistics(c.env, config, logger, http) : null;
  const [isSuspended, totals, recent] = await Promise.all([
    isPanicMode(c),
    statistics?.totals(),
    statistics === null ? null : statistics.recentPullRequests(),
  ]);
  const isInvalid = text.trim() !== '' && path === null;
  return answerPage(
    c,
    renderFrontPage({
      ...page,
      isInvalid,
      isSuspended,
      total: totals?.pullRequests,
      recent,
      now: systemClock.now(),
    }),
    isInvalid ? 400 : 200,
    headers,
  );
});

/** Undefined if it is not known. */
async function isPanicMode(c: Context<AppEnv>): Promise<boolean | undefined> {
  try {
    return (await suspensionOf(c.env)).panicMode;
  } catch (error) {
    c.var.logger.warn('the guard does not answer', { error });
    return undefined;
  }
}
