/**
 * POST /v1/delayed publishes a delayed push. Only this service asks its own Worker for it, with its
 * seal and the push's lease, so that it runs where requests are placed.
 * Proved by test/e2e/delayed/delayed-lost.test.ts and test/e2e/delayed/delayed-ended.test.ts.
 */
import { Hono } from 'hono';
import * as z from 'zod';
import { RELEASE_PATH, releaseSeal } from '../../durable/delayed-pushes/release-due.ts';
import type { AppEnv } from '../../env.ts';
import { delayedPushesOf } from '../../objects.ts';
import { isSameSecret } from '../../secret/keyed-hash.ts';
import { serviceSecret } from '../../secret/open-secret.ts';
import { publishLeased } from '../../service/publish-delayed.ts';
import { readPayload } from '../request/payload.ts';
import { scopeOf } from '../request/scope.ts';

const releaseRequest = z.object({ name: z.string(), lease: z.string(), seal: z.string(), now: z.int() });

export const releaseDelayed = new Hono<AppEnv>();

releaseDelayed.post(RELEASE_PATH, async (c) => {
  const request = await readPayload(c, releaseRequest);
  if (request.kind === 'refused') return c.notFound();
  const { now, seal, ...lease } = request.fields;
  const secret = await serviceSecret(c.env, c.var.config.identitySecret);
  if (!isSameSecret(seal, releaseSeal(secret, lease))) return c.notFound();
  const leased = await delayedPushesOf(c.env).open(lease);
  if (leased === null) return c.notFound();
  return c.json(await publishLeased(scopeOf(c), leased, now));
});
