/**
 * GET /api/pr-status/:hash (contract, 4.13): where the events of a pull request appear.
 *
 * Nothing is looked up, so that the answer does not tell which hashes exist: a hash is the key to its pull request.
 */
import { Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import { pullRequestTopic } from '../../notify/ntfy.ts';
import { type PrStatusAnswer, prStatusParams } from '../schemas/pr-status.ts';

export const prStatus = new Hono<AppEnv>();

prStatus.get('/api/pr-status/:hash', (c) => {
  const params = prStatusParams.safeParse(c.req.param());
  if (!params.success) {
    return c.json(
      { error: 'the hash of a pull request is 8 to 40 hexadecimal characters, as the push printed it' },
      400,
    );
  }
  const topic = pullRequestTopic(params.data.hash);
  // The hash is a key, so no cache may keep it.
  c.header('Cache-Control', 'no-store');
  return c.json<PrStatusAnswer>({
    hash: params.data.hash,
    notify_topic: topic,
    subscribe_url: `${c.var.config.notifyBaseUrl}/${topic}`,
  });
});
