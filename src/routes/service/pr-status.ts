/**
 * GET /api/pr-status/:hash (contract, 4.13): where the events of a pull request appear.
 *
 * Nothing is looked up, so that the answer does not tell which hashes exist: a hash is the key to its pull request.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { pullRequestTopic } from '../../notify/ntfy.ts';
import { answer, asJson, described, error } from '../description.ts';
import { answerRefused, refused } from '../request/refused.ts';

const prStatusParams = z.object({
  hash: z
    .string()
    .regex(/^[A-Za-z0-9._-]+$/)
    .meta({ description: 'The hash that the push printed.' }),
});

const prStatusAnswer = z
  .object({
    hash: z.string().meta({ description: 'The same hash.' }),
    notify_topic: z.string().meta({ description: 'Topic on which its events appear.' }),
    subscribe_url: z.url().meta({ description: 'Where to subscribe to the topic.' }),
  })
  .meta({ description: 'Where the events of a pull request appear.' });

type PrStatusAnswer = z.infer<typeof prStatusAnswer>;

export const prStatus = new Hono<AppEnv>();

prStatus.get(
  '/api/pr-status/:hash',
  described(showTopic, {
    operationId: 'pullRequestTopic',
    summary: 'Where the events of a pull request appear',
    description: 'The answer does not tell whether there is such a pull request.',
    tag: 'Statistics',
    isKeyed: true,
    path: prStatusParams,
    responses: {
      200: answer('The topic.', asJson(prStatusAnswer)),
      400: error('The hash is not valid.'),
    },
  }),
);

function showTopic(c: Context<AppEnv>): Response | Promise<Response> {
  const params = prStatusParams.safeParse(c.req.param());
  if (!params.success) {
    const problem = 'the hash of a pull request has only letters, digits, "-", "_" and "."';
    return answerRefused(c, refused(400, problem));
  }
  const topic = pullRequestTopic(params.data.hash);
  // The hash is a key, so no cache may keep it.
  c.header('Cache-Control', 'no-store');
  return c.json<PrStatusAnswer>({
    hash: params.data.hash,
    notify_topic: topic,
    subscribe_url: `${c.var.config.notifyBaseUrl}/${topic}`,
  });
}
