/**
 * Serves GET /health (contract, 4.8), which tells which code runs. It is public, and asks neither a
 * host nor a database.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { answer, asJson, described } from '../description.ts';

const builtAt = z.union([z.iso.datetime(), z.literal('unknown')]);
const healthAnswer = z
  .object({
    status: z.literal('healthy').describe('Any answer means that the service runs.'),
    deployedCommit: z.string().describe('The commit that was deployed.'),
    deployedAt: builtAt.describe('When the deployed version was built.'),
    sourceRepo: z.url().describe('Where the source code is published.'),
    platform: z.boolean().describe("True on the project's own public instance."),
    goVersion: z.string().meta({
      description: 'The runtime that runs the code, with its compatibility date.',
      examples: ['workerd 2026-11-01'],
    }),
    verify: z
      .object({
        github: z.url().describe('The page of the deployed commit.'),
        source: z.string().describe('How to compare the running code with its source.'),
      })
      .describe('For checking which code runs.'),
  })
  .meta({ id: 'Health', description: 'Which code runs here.' });

/** The header with the hash of the bundle. */
const BUNDLE = 'X-Bundle';
const NOTICE = `The operator says that deployedCommit is the revision that runs here, and that the header ${BUNDLE} is the SHA-256 of its bundle. Build it yourself and compare. Nobody can check from outside which code really runs.`;

export const health = new Hono<AppEnv>();

health.get(
  '/health',
  described(showHealth, {
    operationId: 'showHealth',
    summary: 'Which code runs',
    description: 'The commit and the hash of the bundle, so that anybody can compare them with the source.',
    tag: 'Service',
    responses: {
      200: {
        ...answer('The service runs.', asJson(healthAnswer)),
        headers: {
          [BUNDLE]: {
            description:
              'SHA-256 of the deployed bundle, if it is known. `npm run build -- --hash` prints it.',
            schema: { type: 'string' },
          },
        },
      },
    },
  }),
);

function showHealth(c: Context<AppEnv>): Response {
  const { commitHash, bundleHash, sourceRepo, officialInstance } = c.var.config;
  if (bundleHash !== null) c.header(BUNDLE, bundleHash);
  return c.json<z.infer<typeof healthAnswer>>({
    status: 'healthy',
    deployedCommit: commitHash,
    deployedAt: c.env.VERSION.timestamp || 'unknown',
    sourceRepo,
    platform: officialInstance,
    // The contract's name for the runtime: here workerd, whose version is its compatibility date.
    goVersion: `workerd ${c.env.COMPATIBILITY_DATE}`,
    // Uncommitted changes have no page, so the link leads to their parent commit.
    verify: { github: `${sourceRepo}/commit/${commitHash.replace(/-dirty$/, '')}`, source: NOTICE },
  });
}
