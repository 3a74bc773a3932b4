/** GET /api/status (contract, 4.10): always public. The answer is at most two seconds old. */
import { Hono } from 'hono';
import type { AppEnv } from '../../env.ts';
import type { StatusAnswer } from '../schemas/status.ts';
import { suspensionOf } from '../request/suspension.ts';

export const status = new Hono<AppEnv>();

status.get('/api/status', async (c) => {
  const { panicMode } = await suspensionOf(c.env);
  c.header('Cache-Control', 'no-store');
  return c.json<StatusAnswer>({ panic_mode: panicMode });
});
