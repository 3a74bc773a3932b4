/** The client of a request, and what it holds of the isolate's memory. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { systemClock } from '../../isolate/clock.ts';
import { isolateMemory, type MemoryHold } from '../../isolate/memory-budget.ts';
import { onForget } from '../../isolate/recent.ts';
import { type Client, clientIn, clientNetwork, lacksAddress, prefixOf } from '../../limits/client.ts';
import { serviceSecret } from '../../secret/open-secret.ts';

/** Logged once, because a misconfigured proxy causes it with every request. */
let isLackLogged = false;
onForget(() => (isLackLogged = false));

/** A request asks for it several times. */
const clients = new WeakMap<Request, Client>();

/** Rejects if the key of the hash cannot be read. */
export async function clientOf(c: Context<AppEnv>): Promise<Client> {
  const known = clients.get(c.req.raw);
  if (known !== undefined) return known;
  const { clientIpHeader, identitySecret } = c.var.config;
  if (!isLackLogged && lacksAddress(c.req.raw, clientIpHeader)) {
    isLackLogged = true;
    const message =
      'the header of the client address contains no address, so limits count all such clients as one';
    c.var.logger.warn(message, { variable: 'CLIENT_IP_HEADER' });
  }
  const network = clientNetwork(c.req.raw, clientIpHeader);
  const client = clientIn(network, await serviceSecret(c.env, identitySecret));
  clients.set(c.req.raw, client);
  return client;
}

/** In the name of all networks that one subscriber may hold. Kept as long as it holds something. */
export function memoryFor(c: Context<AppEnv>): MemoryHold {
  return isolateMemory.open(systemClock, prefixOf(clientNetwork(c.req.raw, c.var.config.clientIpHeader)));
}

/**
 * Gives back what the request holds when it is answered. If the client leaves before that, it goes
 * on until then.
 */
export async function untilAnswered(memory: MemoryHold, answer: Promise<Response>): Promise<Response> {
  const answering = answer.finally(() => memory.end());
  waitUntil(answering.catch(() => {}));
  return answering;
}
