/**
 * Serves GET /openapi.json (OpenAPI 3.1), made of the handlers' descriptions, and GET /docs, the
 * page that `npm run documents` makes of it.
 */
import { type Context, Hono } from 'hono';
import { generateSpecs } from 'hono-openapi';
import type { AppEnv } from '../../env.ts';
import { DOCUMENTS } from '../../pages/document-page.ts';
import { answer, as, described, errorCodeHeader, HTML } from '../description.ts';
import { answerDocument } from '../pages/documents.ts';
import { longBody } from '../request/long-body.ts';
import { keptFor, shownOrigin } from '../request/public-origin.ts';

const SERVICE_KEY = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Service-Key',
  description: 'Only if the operator has set a key.',
} as const;

const DOCUMENTATION = {
  info: {
    title: 'gitveil',
    version: '1',
    description: DOCUMENTS.api.description,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  tags: [
    { name: 'Git', description: 'The remote: push, fetch and clone.' },
    { name: 'Comments and issues', description: 'The bot account posts them for anonymous people.' },
    { name: 'Private reports', description: 'Vulnerabilities, for the maintainers alone.' },
    { name: 'Reports', description: 'Readers report pseudonyms for abuse.' },
    { name: 'Statistics', description: 'Pull requests so far.' },
    { name: 'Badges', description: 'Images for READMEs.' },
    { name: 'Service', description: 'Which code runs, and its metrics.' },
    { name: 'Operation', description: 'For the operator.' },
  ],
  components: {
    headers: { ErrorCode: errorCodeHeader },
    securitySchemes: { ServiceKey: SERVICE_KEY },
  },
};

/** @param app the whole service, including what is mounted later. */
export function openapi(app: Hono<AppEnv>): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  /** The document, generated on the first request to an isolate. */
  let known: Awaited<ReturnType<typeof generateSpecs>> | null = null;

  async function showDescription(c: Context<AppEnv>): Promise<Response> {
    known ??= await generateSpecs(app, { documentation: DOCUMENTATION, excludeStaticFile: false });
    // The address at which people report faults of the program.
    const info = { ...known.info, contact: { name: 'gitveil', url: c.var.config.sourceRepo } };
    const document = { ...known, info, servers: [{ url: shownOrigin(c.req.raw, c.var.config) }] };
    c.header('Cache-Control', keptFor(300, c.req.raw, c.var.config));
    return c.body(longBody(c, JSON.stringify(document)), 200, { 'Content-Type': 'application/json' });
  }

  routes.get(
    '/openapi.json',
    described(showDescription, {
      operationId: 'describeApi',
      summary: 'This description, for tools',
      description: 'OpenAPI 3.1, with the address at which it was asked for.',
      tag: 'Service',
      responses: {
        200: answer('An OpenAPI 3.1 document.', { 'application/json': { schema: { type: 'object' } } }),
      },
    }),
  );

  routes.get(
    '/docs',
    described((c: Context<AppEnv>) => answerDocument(c, 'api'), {
      operationId: 'showDocumentation',
      summary: 'This description, for people',
      description: 'Begins with a first comment, and has a command to try for each endpoint.',
      tag: 'Service',
      responses: { 200: answer('A page.', as(HTML)) },
    }),
  );

  return routes;
}
