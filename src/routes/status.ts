/** GET /api/status (contract, 4.10): always public, and never from a cache, so that a suspension shows immediately. */
import { Hono } from 'hono';
import type { AppEnv } from '../env.ts';
import { guardOf } from './client.ts';
import type { StatusAnswer } from './schemas/status.ts';

export const status = new Hono<AppEnv>();

status.get('/api/status', async (c) => {
  const { panicMode } = await guardOf(c.env).status();
  c.header('Cache-Control', 'no-store');
  return c.json<StatusAnswer>({ panic_mode: panicMode });
});
