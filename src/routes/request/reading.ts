/**
 * Reads what a page or a form shows of a repository. That asks the host, so each request counts
 * once, like a clone, whatever it reads.
 * Proved by test/e2e/people/refused-clients.test.ts and test/routes/pages/remote-page.test.ts.
 */
import type { Context } from 'hono';
import type { HostConfig } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { type KnownPolicy, openPolicies } from '../../policy/policies.ts';
import type { RepositoryName } from '../../words/repository-name.ts';
import { refuseTooMany } from './limits.ts';
import type { Refused } from './refused.ts';
import { hostScopeOf } from './scope.ts';

const readings = new WeakMap<Context<AppEnv>, Promise<Refused | null>>();

/** Counts a request, the first time that this is asked. Gives null if it may read. */
export function countReading(c: Context<AppEnv>): Promise<Refused | null> {
  const reading = readings.get(c) ?? refuseTooMany(c, 'discoveries');
  readings.set(c, reading);
  return reading;
}

/** Tells if a request may read. It counts like `countReading`. */
export async function mayRead(c: Context<AppEnv>): Promise<boolean> {
  return (await countReading(c)) === null;
}

/** Reads the policy with Git, because pages and forms can be polled. Never rejects. */
export function knownPolicy(
  c: Context<AppEnv>,
  target: RepositoryName,
  host: HostConfig = c.var.host,
): Promise<KnownPolicy> {
  const question = { mayAsk: () => mayRead(c), isPolled: true };
  return openPolicies(hostScopeOf(c, host)).of(target, question);
}
