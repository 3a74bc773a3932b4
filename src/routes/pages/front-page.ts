/** Serves the front page: a page in a browser, a few lines in a terminal. */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { systemClock } from '../../isolate/clock.ts';
import type { AppEnv } from '../../env.ts';
import { parseRepositoryText, placeholder } from '../../pages/commands.ts';
import { frontPage, frontText } from '../../pages/front-page.ts';
import { openStatistics } from '../../stats/statistics.ts';
import { answer, as, described, HTML, TEXT } from '../description.ts';
import { answerPage } from './answer-page.ts';
import { keptFor, shownOrigin } from '../request/public-origin.ts';
import { prefersPage } from '../request/repository.ts';
import { botProblems, suspensionOf } from '../../service/suspension.ts';

const V1 = '/v1/';
/** How long clients may cache the text, which has no numbers. */
const KEPT_SECONDS = 5;

export const frontPageRoute = new Hono<AppEnv>();

const frontPageQuery = z.object({
  repo: z
    .string()
    .optional()
    .meta({ description: 'The repository to show commands for.', examples: ['octo/hello'] }),
  go: z
    .enum(['change', 'new-issue', 'reply', 'security'])
    .optional()
    .catch(undefined)
    .meta({ description: 'The form to open. Default: the page of the repository, which leads to all.' }),
});

frontPageRoute.get(
  '/',
  described(showFrontPage, {
    operationId: 'showFrontPage',
    summary: 'What this is, and how to use it',
    description: 'A page in a browser, a few lines in a terminal.',
    tag: 'Service',
    query: frontPageQuery,
    responses: {
      200: answer('The page.', as(HTML, TEXT)),
      302: { description: 'A browser is led to the page of the repository.' },
      400: answer('The page, and what is wrong with the name of the repository.', as(HTML)),
    },
  }),
);

async function showFrontPage(c: Context<AppEnv>): Promise<Response> {
  const { config, logger, http } = c.var;
  const text = c.req.query('repo') ?? '';
  const origin = shownOrigin(c.req.raw, config);
  const path = parseRepositoryText(text, config.hosts, new URL(origin).host);
  const page = {
    text,
    hosts: config.hosts,
    path: path ?? placeholder(config.hosts),
    remoteBase: `${origin}${V1}`,
    isHostEmbedded: c.env.EMBEDDED_HOST !== undefined,
  };
  if (!prefersPage(c)) {
    const kept = { 'Cache-Control': keptFor(KEPT_SECONDS, c.req.raw, config) };
    return c.text(frontText(page, origin), 200, { ...kept, Vary: 'Accept' });
  }
  const { go } = frontPageQuery.parse(c.req.query());
  if (path !== null) return c.redirect(`${V1}${path}${go === undefined ? '' : `/${go}`}`, 302);
  // Statistics that require the service's key are not shown.
  const statistics = config.serviceApiKey === null ? openStatistics(c.env, config, logger, http) : null;
  const [standing, totals, recent] = await Promise.all([
    suspensionOf(c.env).catch((error: unknown) => {
      logger.warn('the guard does not answer', { error });
      return null;
    }),
    statistics?.totals(),
    statistics && statistics.recentPullRequests(),
  ]);
  const isInvalid = text.trim() !== '' || go !== undefined;
  const shown = {
    ...page,
    isInvalid,
    isSuspended: standing?.panicMode,
    botProblems: standing === null ? [] : botProblems(standing, config.hosts),
    total: totals?.pullRequests,
    recent,
    now: systemClock.now(),
  };
  return answerPage(c, frontPage(shown), isInvalid ? 400 : 200, { 'Cache-Control': 'no-store' });
}
