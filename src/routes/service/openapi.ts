/**
 * GET /openapi.json: a description of the API for tools (OpenAPI 3.1), generated from the schemas that the handlers
 * use. The descriptions belong to an app of their own, which serves no request. A test compares its paths with the
 * Worker's.
 */
import { Hono } from 'hono';
import { generateSpecs } from 'hono-openapi';
import type { AppEnv } from '../../env.ts';
import { describeGit } from '../descriptions/git.ts';
import { describeOperation } from '../descriptions/operation.ts';
import {
  describeBadges,
  describePages,
  describeService,
  describeStatistics,
} from '../descriptions/service.ts';
import { describeWriting } from '../descriptions/writing.ts';
import { keptFor, publicOrigin } from '../request/public-origin.ts';

export type ApiDescription = Awaited<ReturnType<typeof generateSpecs>>;

const DOCUMENTATION = {
  info: {
    title: 'gitveil',
    version: '1',
    description:
      'An anonymising Git remote and its JSON API: pull requests, comments and issues without an account. You need no key for them. The code host learns neither your name nor your address.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  tags: [
    { name: 'Git', description: 'The remote: push, fetch and clone.' },
    { name: 'Comments and issues', description: 'The bot account posts them for anonymous people.' },
    { name: 'Reports', description: 'Readers report pseudonyms for abuse.' },
    { name: 'Statistics', description: 'Pull requests so far.' },
    { name: 'Badges', description: 'Images for READMEs.' },
    { name: 'Service', description: 'Which code runs, and its metrics.' },
    { name: 'Operation', description: 'For the operator.' },
  ],
  components: {
    securitySchemes: {
      ServiceKey: {
        type: 'apiKey' as const,
        in: 'header' as const,
        name: 'X-Service-Key',
        description: 'Only if the operator has set a key.',
      },
    },
  },
};

let known: ApiDescription | null = null;

/** Generated once for each isolate, on the first request. @param origin the service's public address. */
export async function apiDescription(origin: string): Promise<ApiDescription> {
  known ??= await generateSpecs(describedApp(), { documentation: DOCUMENTATION, excludeStaticFile: false });
  return { ...known, servers: [{ url: origin }] };
}

function describedApp(): Hono {
  const app = new Hono();
  describeGit(app);
  describeWriting(app);
  describeStatistics(app);
  describeBadges(app);
  describeService(app);
  describePages(app);
  describeOperation(app);
  return app;
}

const KEPT_SECONDS = 300;

export const openapi = new Hono<AppEnv>();

openapi.get('/openapi.json', async (c) => {
  const origin = publicOrigin(c.req.raw, c.var.config);
  c.header('Cache-Control', keptFor(KEPT_SECONDS, c.var.config));
  return c.json(await apiDescription(origin));
});
