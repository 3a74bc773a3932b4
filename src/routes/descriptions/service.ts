/** Describes health, metrics, statistics (contract, 4.8 to 4.13), badges and pages. */
import type { Hono } from 'hono';
import { describeRoute } from 'hono-openapi';
import { anonymousFriendlyQuery, deployedQuery, shortRepositoryParams } from '../schemas/badges.ts';
import { healthAnswer } from '../schemas/health.ts';
import { metricsAnswer } from '../schemas/metrics.ts';
import { prStatusAnswer, prStatusParams, pullRequestPageParams } from '../schemas/pr-status.ts';
import { recentPrsAnswer, statsAnswer } from '../schemas/stats.ts';
import {
  answer,
  as,
  asJson,
  error,
  FAULT,
  HTML,
  KEY_REQUIRED,
  KEYED,
  parameters,
  PUBLIC,
  repository,
  TEXT,
  type Description,
} from './parts.ts';

const UNAVAILABLE = error(
  'The ledger does not answer. Retry-After says when to try again.',
  'statistics are unavailable; try again later',
);

export function describeService(app: Hono): void {
  app.get(
    '/health',
    describeRoute({
      operationId: 'health',
      summary: 'Which code runs',
      tags: ['Service'],
      security: PUBLIC,
      responses: { 200: answer('The service runs.', asJson(healthAnswer)), ...FAULT },
    }),
  );
  app.get(
    '/metrics',
    describeRoute({
      operationId: 'metrics',
      summary: 'Metrics for operators',
      description:
        'JSON describes only the isolate that answers. The text formats of Prometheus and OpenMetrics also contain the counts of the whole service; ask for them with Accept.',
      tags: ['Service'],
      security: KEYED,
      responses: {
        200: answer('The figures.', asJson(metricsAnswer), as(TEXT, 'application/openmetrics-text')),
        ...KEY_REQUIRED,
        ...FAULT,
      },
    }),
  );
}

export function describeStatistics(app: Hono): void {
  const COMMON = { tags: ['Statistics'], security: KEYED };
  app.get(
    '/api/stats',
    describeRoute({
      ...COMMON,
      operationId: 'stats',
      summary: 'How many pull requests there are',
      responses: {
        200: answer('The total.', asJson(statsAnswer)),
        ...KEY_REQUIRED,
        503: UNAVAILABLE,
        ...FAULT,
      },
    }),
  );
  app.get(
    '/api/recent-prs',
    describeRoute({
      ...COMMON,
      operationId: 'recentPullRequests',
      summary: 'The newest pull requests',
      responses: {
        200: answer('Up to ten, newest first.', asJson(recentPrsAnswer)),
        ...KEY_REQUIRED,
        503: UNAVAILABLE,
        ...FAULT,
      },
    }),
  );
  app.get(
    '/api/pr-status/:hash',
    describeRoute({
      ...COMMON,
      operationId: 'pullRequestTopic',
      summary: 'Where the events of a pull request appear',
      description: 'The answer does not tell whether there is such a pull request.',
      parameters: parameters('path', prStatusParams),
      responses: {
        200: answer('The topic.', asJson(prStatusAnswer)),
        400: error('The hash is not valid.'),
        ...KEY_REQUIRED,
        ...FAULT,
      },
    }),
  );
}

export function describeBadges(app: Hono): void {
  const COMMON = { tags: ['Badges'], security: PUBLIC };
  const INVALID = error('The name of the repository is not valid.', 'Invalid owner or repo');
  const BADGE = answer('The badge.', as('image/svg+xml'));
  const count = (of: Pick<Description, 'operationId' | 'summary' | 'parameters'>): Description => ({
    ...COMMON,
    ...of,
    responses: { 200: BADGE, 400: INVALID, ...FAULT },
  });
  app.get(
    '/badge/:owner/:repo',
    describeRoute(
      count({
        operationId: 'pullRequestCountBadge',
        summary: 'How many anonymous pull requests a repository has received',
        parameters: parameters('path', shortRepositoryParams),
      }),
    ),
  );
  app.get(
    '/badge/:host/:owner/:repo',
    describeRoute(
      count({
        operationId: 'pullRequestCountBadgeOfHost',
        summary: 'The same for a repository of any code host',
        parameters: repository(),
      }),
    ),
  );
  app.get(
    '/badges/anonymous-friendly.svg',
    describeRoute({
      ...COMMON,
      operationId: 'anonymousFriendlyBadge',
      summary: 'Whether a repository welcomes anonymous contributions',
      description: 'Green if the file `.gitveil.yml` at its root contains `anonymous_friendly: true`.',
      parameters: parameters('query', anonymousFriendlyQuery),
      responses: { 200: BADGE, 400: INVALID, ...FAULT },
    }),
  );
  app.get(
    '/badges/deployed.svg',
    describeRoute({
      ...COMMON,
      operationId: 'deployedBadge',
      summary: 'Which commit runs',
      description: 'Red while pushes are suspended.',
      parameters: parameters('query', deployedQuery),
      responses: { 200: BADGE, ...FAULT },
    }),
  );
}

export function describePages(app: Hono): void {
  const COMMON = { tags: ['Service'], security: PUBLIC };
  app.get(
    '/v1/pr/:hash',
    describeRoute({
      ...COMMON,
      operationId: 'pullRequestPage',
      summary: 'How a pull request stands',
      description:
        'State, link, events, and how to update and withdraw it: a page in a browser, lines in a terminal, an Atom feed behind `.atom`. Unlike a topic, nobody else can write to it.',
      parameters: parameters('path', pullRequestPageParams),
      responses: {
        200: answer('The page, or the feed.', as(HTML, TEXT, 'application/atom+xml')),
        404: answer('No pull request with this hash was recorded.', as(HTML, TEXT)),
        429: answer(
          'The client has asked for too many unknown hashes. Retry-After says how long to wait.',
          as(TEXT),
        ),
        ...FAULT,
      },
    }),
  );
  app.get(
    '/',
    describeRoute({
      ...COMMON,
      operationId: 'frontPage',
      summary: 'What this is, and how to use it',
      description: 'A page in a browser, a few lines in a terminal.',
      parameters: [
        {
          in: 'query',
          name: 'repo',
          description: 'The repository to show commands for.',
          schema: { type: 'string' },
          example: 'octo/hello',
        },
      ],
      responses: {
        200: answer('The page.', as(HTML, TEXT)),
        400: answer('The page, and what is wrong with the name of the repository.', as(HTML)),
        ...FAULT,
      },
    }),
  );
  app.get(
    '/openapi.json',
    describeRoute({
      ...COMMON,
      operationId: 'description',
      summary: 'This description, for tools',
      responses: {
        200: answer('An OpenAPI 3.1 document.', { 'application/json': { schema: { type: 'object' } } }),
        ...FAULT,
      },
    }),
  );
  app.get(
    '/docs',
    describeRoute({
      ...COMMON,
      operationId: 'documentation',
      summary: 'This description, for people',
      responses: { 200: answer('A page.', as(HTML)), ...FAULT },
    }),
  );
}
