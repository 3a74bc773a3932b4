/** Whether the service knows the name under which others reach it. */
import type { Config } from '../src/config/config.ts';
import { isLoopback } from '../src/config/values.ts';

/**
 * Says why the service may not start; `null` if it may. Without SERVICE_URL, the only name that it
 * could put into comments and pull requests is the one that a client says, such as that of the
 * client's own machine.
 * @param hasProxy whether CLIENT_IP_HEADER is set, which only a proxy in front needs.
 */
export function nameProblem(
  { host, isServiceUrlGiven }: Pick<Config, 'host' | 'isServiceUrlGiven'>,
  hasProxy: boolean,
): string | null {
  if (isServiceUrlGiven || (isLoopback(host) && !hasProxy)) return null;
  const reason = isLoopback(host)
    ? 'CLIENT_IP_HEADER is set, so others reach the service through a proxy'
    : `HOST is "${host}", so other machines can reach the service`;
  return (
    `${reason}, but SERVICE_URL is not set: set it to the address that they use, such as https://git.example.org, ` +
    'which comments and pull requests will name'
  );
}
