/** GET /api/status (contract, 4.10): always public. The answer is at most two seconds old. */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { AppEnv } from '../../env.ts';
import { answer, asJson, described } from '../description.ts';
import { suspensionOf } from '../request/suspension.ts';

const statusAnswer = z
  .object({ panic_mode: z.boolean().meta({ description: 'Whether pushes are rejected now.' }) })
  .meta({ description: 'Whether the service accepts pushes.' });

type StatusAnswer = z.infer<typeof statusAnswer>;

export const status = new Hono<AppEnv>();

status.get(
  '/api/status',
  described(showStatus, {
    operationId: 'status',
    summary: 'Whether pushes are accepted',
    description: 'At most two seconds old.',
    tag: 'Operation',
    responses: { 200: answer('The state of the panic switch.', asJson(statusAnswer)) },
  }),
);

async function showStatus(c: Context<AppEnv>): Promise<Response> {
  const { panicMode } = await suspensionOf(c.env);
  c.header('Cache-Control', 'no-store');
  return c.json<StatusAnswer>({ panic_mode: panicMode });
}
