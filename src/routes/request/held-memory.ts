/** What a request holds of the isolate's memory. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import { systemClock } from '../../isolate/clock.ts';
import type { AppEnv } from '../../env.ts';
import { clientNetwork, siteOf } from '../../limits/client.ts';
import { isolateMemory, type MemoryHold } from '../../isolate/memory-budget.ts';

/** In the name of all networks that one subscriber may hold. Kept as long as it holds something. */
export function memoryFor(c: Context<AppEnv>): MemoryHold {
  return isolateMemory.open(systemClock, siteOf(clientNetwork(c.req.raw, c.var.config.clientIpHeader)));
}

/** Gives back what the request holds when it is answered. If the client leaves before that, it goes on until then. */
export async function untilAnswered(memory: MemoryHold, answer: Promise<Response>): Promise<Response> {
  const answering = answer.finally(() => memory.end());
  waitUntil(answering.then(ignore, ignore));
  return answering;
}

const ignore = (): void => {};
