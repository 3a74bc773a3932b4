/** The client of a request. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { onForget } from '../../isolate/recent.ts';
import { type Client, clientIn, clientNetwork, lacksAddress } from '../../limits/client.ts';
import { serviceSecret } from '../../secret/open-secret.ts';

/** Logged once, because a misconfigured proxy causes it with every request. */
let isLackLogged = false;
onForget(() => (isLackLogged = false));

/** A request asks for its client several times. */
const clients = new WeakMap<Request, Client>();

/** Rejects if the key of the hash cannot be read. */
export async function clientOf(c: Context<AppEnv>): Promise<Client> {
  const client = clients.get(c.req.raw) ?? (await newClient(c));
  clients.set(c.req.raw, client);
  return client;
}

async function newClient(c: Context<AppEnv>): Promise<Client> {
  const { clientIpHeader, identitySecret } = c.var.config;
  if (!isLackLogged && lacksAddress(c.req.raw, clientIpHeader)) {
    isLackLogged = true;
    c.var.logger.warn(
      'the header of the client address contains no address, so limits count all such clients as one',
      {
        variable: 'CLIENT_IP_HEADER',
      },
    );
  }
  const network = clientNetwork(c.req.raw, clientIpHeader);
  return clientIn(network, await serviceSecret(c.env, identitySecret));
}
