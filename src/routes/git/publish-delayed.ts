/** POST /v1/delayed: publishes a delayed push. */
import { type Context, Hono } from 'hono';
import type { DelayedIntent } from '../../durable/delayed-pushes/delayed-push.ts';
import type { AppEnv } from '../../env.ts';

export const delayedPublisher = new Hono<AppEnv>();

/** What somebody has begun to publish. */
export interface Begun {
  readonly name: string;
  /** The key of the code host. */
  readonly host: string;
  readonly intent: DelayedIntent;
}

/** Removes its branch and its pull request from the code host. Never rejects. */
export async function removeBegun(_c: Context<AppEnv>, _begun: Begun): Promise<'removed' | 'failed'> {
  return 'failed';
}
