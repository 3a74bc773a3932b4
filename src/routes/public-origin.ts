/**
 * Where the service is found from outside, for links in what it posts (contract, 2.5: scheme and host of the incoming
 * request).
 *
 * Behind a proxy that ends TLS, the request that arrives here says `http`, and perhaps another host. What such a proxy
 * says in `X-Forwarded-Host` a client may say as well; so it is believed only when it names the host of `SERVICE_URL`,
 * and then that address counts, whose scheme the operator has set.
 */
import type { Config } from '../config.ts';

/** What a link in Markdown can hold as it is. */
const ORIGIN_PATTERN = /^https?:\/\/[A-Za-z0-9.:[\]-]+$/;

type ServiceUrl = Pick<Config, 'serviceUrl' | 'isServiceUrlGiven'>;

/** Scheme and host, without a slash at the end. */
export function publicOrigin(request: Request, { serviceUrl, isServiceUrlGiven }: ServiceUrl): string {
  const asked = new URL(request.url);
  const service = new URL(serviceUrl);
  const named = [asked.host, request.headers.get('X-Forwarded-Host')?.toLowerCase()];
  // An address that nobody has given is a guess, and no client is to choose it.
  const isOurs = isServiceUrlGiven && named.includes(service.host);
  return isOurs || !ORIGIN_PATTERN.test(asked.origin) ? service.origin : asked.origin;
}

/** The service's address for a link that is the same for everyone: the operator's, or else where it was called. */
export function serviceAddress(request: Request, config: ServiceUrl): string {
  return config.isServiceUrlGiven ? config.serviceUrl : publicOrigin(request, config);
}

/**
 * `Cache-Control` of an answer that names `origin`. A cache that others share may not look at the request's host, by which
 * a client could have any address named; only the operator's own is for everybody.
 */
export function keptFor(
  seconds: number,
  origin: string,
  { serviceUrl, isServiceUrlGiven }: ServiceUrl,
): string {
  const isForAll = isServiceUrlGiven && origin === new URL(serviceUrl).origin;
  return `${isForAll ? 'public' : 'private'}, max-age=${seconds}`;
}
