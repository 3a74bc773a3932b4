/**
 * Finds where maintainers install the operator's GitHub App.
 * Proved by test/e2e/host/app.test.ts and test/routes/pages/documents.test.ts.
 */
import type { HostConfig } from '../config/hosts.ts';
import type { Env } from '../env.ts';
import { within } from '../isolate/within.ts';
import { feedOf, readFrom } from '../objects.ts';
import type { RepositoryName } from '../words/repository-name.ts';

/** How long a page waits for it. */
const PATIENCE_MS = 3_000;
/** The end of an App's login, which its address lacks. */
const BOT = /\[bot\]$/;

/**
 * Gives the address of the App's page at the host. Costs no call of the host. Never rejects.
 * @param repository null: for any.
 * @returns null: there is none, or it is of no use there.
 */
export async function offeredApp(
  env: Pick<Env, 'NOTIFICATION_FEED' | 'LOCATION_HINT'>,
  { app, key, url }: Pick<HostConfig, 'app' | 'key' | 'url'>,
  repository: RepositoryName | null,
): Promise<string | null> {
  if (app === undefined) return null;
  const asked = readFrom(() => feedOf(env, key).appToOffer(app.id, repository));
  const login = await within(PATIENCE_MS, asked).catch(() => null);
  return login && `${url}/apps/${encodeURIComponent(login.replace(BOT, ''))}`;
}
