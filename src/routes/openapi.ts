/**
 * GET /openapi.json: the API as others' tools read it (OpenAPI 3.1), made of the schemas by which handlers check and
 * answer. The descriptions hang on an app of their own, which serves nothing: no request passes through them, and a test
 * compares their paths with the Worker's.
 */
import { Hono } from 'hono';
import { generateSpecs } from 'hono-openapi';
import type { AppEnv } from '../env.ts';
import { describeGit } from './descriptions/git.ts';
import { describeOperation } from './descriptions/operation.ts';
import {
  describeBadges,
  describePages,
  describeService,
  describeStatistics,
} from './descriptions/service.ts';
import { describeWriting } from './descriptions/writing.ts';
import { keptFor, publicOrigin } from './public-origin.ts';

export type ApiDescription = Awaited<ReturnType<typeof generateSpecs>>;

const DOCUMENTATION = {
  info: {
    title: 'gitveil',
    version: '1',
    description:
      'An anonymising Git remote and its JSON API: pull requests, comments and issues without an account. No key is needed for them; the code host learns neither your name nor your address.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  tags: [
    { name: 'Git', description: 'The remote: push, fetch and clone.' },
    { name: 'Comments and issues', description: 'Written by the bot account for people whom nobody knows.' },
    { name: 'Reports', description: 'How readers act against abuse.' },
    { name: 'Statistics', description: 'Pull requests so far.' },
    { name: 'Badges', description: 'Images for READMEs.' },
    { name: 'Service', description: 'Which code runs, and how it fares.' },
    { name: 'Operation', description: 'For the operator.' },
  ],
  components: {
    securitySchemes: {
      ServiceKey: {
        type: 'apiKey' as const,
        in: 'header' as const,
        name: 'X-Service-Key',
        description: 'Only where the operator has set a key.',
      },
    },
  },
};

let known: ApiDescription | null = null;

/** Made once in an isolate's life, when it is first asked for. @param origin where the service is found. */
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
  c.header('Cache-Control', keptFor(KEPT_SECONDS, origin, c.var.config));
  return c.json(await apiDescription(origin));
});
