/**
 * The service's address as seen from outside, for links in what it posts (contract, 2.5: scheme and host of the
 * incoming request).
 *
 * Behind a proxy that terminates TLS, the request that arrives here says `http`, and perhaps another host. Such a proxy
 * sets `X-Forwarded-Host`, but so can a client. So the header counts only if it names the host of `SERVICE_URL`, and
 * then the result is that address, with the operator's scheme.
 */
import type { Config } from '../config.ts';

/** What can stand unescaped in a Markdown link. */
const ORIGIN_PATTERN = /^https?:\/\/[A-Za-z0-9.:[\]-]+$/;

type ServiceUrl = Pick<Config, 'serviceUrl' | 'isServiceUrlGiven'>;

/** Scheme and host, without a slash at the end. */
export function publicOrigin(request: Request, { serviceUrl, isServiceUrlGiven }: ServiceUrl): string {
  const asked = new URL(request.url);
  const service = new URL(serviceUrl);
  const named = [asked.host, request.headers.get('X-Forwarded-Host')?.toLowerCase()];
  // An address that the operator has not set is a guess, and no client may choose it.
  const isOurs = isServiceUrlGiven && named.includes(service.host);
  return isOurs || !ORIGIN_PATTERN.test(asked.origin) ? service.origin : asked.origin;
}

/** The service's address for a link that is the same for everyone: the operator's, or else that of the request. */
export function serviceAddress(request: Request, config: ServiceUrl): string {
  return config.isServiceUrlGiven ? config.serviceUrl : publicOrigin(request, config);
}

/**
 * `Cache-Control` of an answer that names `origin`. A shared cache may ignore the request's host, so a client could put
 * any address into it. So only answers with the operator's address may be shared.
 */
export function keptFor(
  seconds: number,
  origin: string,
  { serviceUrl, isServiceUrlGiven }: ServiceUrl,
): string {
  const isForAll = isServiceUrlGiven && origin === new URL(serviceUrl).origin;
  return `${isForAll ? 'public' : 'private'}, max-age=${seconds}`;
}
