/**
 * The service's address as seen from outside, for links in what it posts and shows.
 *
 * It is the operator's `SERVICE_URL`, whatever host a request names, because a client can choose that. If the operator
 * has set none, it is the scheme and host of the request (contract, 2.5).
 */
import type { Config } from '../../config.ts';

/** Characters of a host name that would end a link in Markdown. */
const UNFIT_PATTERN = /[^A-Za-z0-9.:/[\]_-]/g;

type ServiceUrl = Pick<Config, 'serviceUrl' | 'isServiceUrlGiven'>;

/** Scheme and host, without a slash at the end. */
export function publicOrigin(request: Request, { serviceUrl, isServiceUrlGiven }: ServiceUrl): string {
  if (isServiceUrlGiven) return new URL(serviceUrl).origin;
  const { origin } = new URL(request.url);
  return origin.replaceAll(UNFIT_PATTERN, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

/** The service's address for a link that is the same for everyone: the operator's, or else that of the request. */
export function serviceAddress(request: Request, config: ServiceUrl): string {
  return config.isServiceUrlGiven ? config.serviceUrl : publicOrigin(request, config);
}

/**
 * `Cache-Control` of an answer that names the service's address. A shared cache may ignore the request's host, so a
 * client could put any address into it. So only answers with the operator's address may be shared.
 */
export function keptFor(seconds: number, { isServiceUrlGiven }: ServiceUrl): string {
  return `${isServiceUrlGiven ? 'public' : 'private'}, max-age=${seconds}`;
}
