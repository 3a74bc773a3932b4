/**
 * Tells Tor Browser that a page is also found at the operator's onion service (`Onion-Location`, Tor Project's community
 * documents). Only pages at SERVICE_URL say so: the onion service's own must not.
 */
import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../env.ts';

export const onionLocation: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  const { onionUrl, serviceUrl } = c.var.config;
  if (onionUrl === null || !c.res.headers.get('Content-Type')?.startsWith('text/html')) return;
  const { hostname, pathname, search } = new URL(c.req.url);
  if (hostname === new URL(serviceUrl).hostname) c.header('Onion-Location', onionUrl + pathname + search);
};
