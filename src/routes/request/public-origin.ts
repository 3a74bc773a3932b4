/**
 * The service's address: `SERVICE_URL`, else the request's (contract, 2.5), or the onion's for
 * clients that came through it.
 * Proved by test/e2e/people/service-name.test.ts.
 */
import type { Config } from '../../config/config.ts';

type Addresses = Pick<Config, 'serviceUrl' | 'isServiceUrlGiven' | 'onionUrl'>;

/** Scheme and host for links in what is published, without a slash at the end. */
export function publishedOrigin(request: Request, config: Addresses): string {
  const { origin } = new URL(config.isServiceUrlGiven ? config.serviceUrl : request.url);
  // Other characters would end a link in Markdown.
  return origin.replaceAll(
    /[^A-Za-z0-9.:/[\]_-]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
}

/** The address of the front page for links in what is published. */
export function publishedAddress(request: Request, config: Addresses): string {
  return config.isServiceUrlGiven ? config.serviceUrl : publishedOrigin(request, config);
}

/**
 * Scheme and host for links and commands that only this client sees, without a slash at the end.
 */
export function shownOrigin(request: Request, config: Addresses): string {
  const { onionUrl } = config;
  return onionUrl !== null && isOnion(request, config) ? onionUrl : publishedOrigin(request, config);
}

/**
 * The value of `Cache-Control`. Only pages with a configured address may be shared, because a
 * client could put any other address into a shared cache.
 */
export function keptFor(seconds: number, request: Request, config: Addresses): string {
  const isShared = config.isServiceUrlGiven && !isOnion(request, config);
  return `${isShared ? 'public' : 'private'}, max-age=${seconds}`;
}

/**
 * True if the client came through the onion service. Ports are left out, because a proxy may drop
 * them.
 */
function isOnion(request: Request, { onionUrl }: Addresses): boolean {
  return onionUrl !== null && new URL(request.url).hostname === new URL(onionUrl).hostname;
}
