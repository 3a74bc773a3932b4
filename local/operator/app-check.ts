/**
 * Checks the GitHub App: its key and its clock, what it may do, who has installed it, and whether
 * its webhook reaches the service. Nothing is changed: the service is sent a delivery that names
 * nothing.
 */
import { createHmac } from 'node:crypto';
import { HOOK_PATH, type HostConfig, hostNameOf } from '../../src/config/hosts.ts';
import { hostText } from '../../src/words/host-text.ts';
import { APP_PERMISSIONS } from '../app-permissions.ts';
import { type Answer, ask, fieldOf, type NoAnswer, wordOf } from './ask-host.ts';
import type { Finding } from './finding.ts';

export interface CheckedApp {
  readonly host: Pick<HostConfig, 'apiUrl' | 'url'>;
  readonly id: number;
  /** Makes the token by which the App proves who it is, for a time in milliseconds since 1970. */
  readonly token: (now: number) => Promise<string>;
  readonly webhookSecret: string | null;
  readonly serviceUrl: string;
}

type Permissions = Readonly<Record<string, string>>;

/** Events of which the App is told; those of installations come without being asked for. */
export const EVENTS: readonly string[] = ['issue_comment', 'pull_request', 'pull_request_review'];
/** A permission that the operator may add: for private reports. */
const OPTIONAL = 'repository_advisories';
/** Words of GitHub's about a token whose times are wrong. */
const WRONG_TIME = /claim \('(?:exp|iat)'\)/;
const TIMEOUT_MS = 10_000;
const APP = 'app';
const PERMISSIONS = 'permissions';
const HOOK = 'webhook';

type Asked = (path: string) => Promise<Answer | NoAnswer>;

/** Checks the App. Never rejects. */
export async function appFindings(app: CheckedApp): Promise<Finding[]> {
  const { asked, found } = await introduce(app);
  if ('why' in found) {
    const remedy = 'Look at what is said of the host itself, and run this again.';
    return [problem(APP, `cannot be asked (${hostText(found.why)})`, remedy)];
  }
  if (found.status !== 200) return [refusedFinding(app, found)];
  const settings = `${app.host.url}/settings/apps/${encodeURIComponent(wordOf(found, 'slug'))}`;
  const installations = listOf(await asked('/app/installations?per_page=100'));
  return [
    installedFinding(found),
    permissionFinding(permissionsOf(found.json), installations, settings),
    await hookFinding(app, found, asked, settings),
  ];
}

/** Asks who the App is, with the host's time if that of this machine is wrong. */
async function introduce(app: CheckedApp): Promise<{ asked: Asked; found: Answer | NoAnswer }> {
  const askedAt =
    (aheadMs: number): Asked =>
    async (path) =>
      ask(app.host.apiUrl + path, await app.token(Date.now() - aheadMs), 'GET', 'Bearer');
  const asked = askedAt(0);
  const found = await asked('/app');
  const isLate = !('why' in found) && found.status === 401 && WRONG_TIME.test(wordOf(found, 'message'));
  if (!isLate || found.aheadMs === null) return { asked, found };
  const corrected = askedAt(found.aheadMs);
  return { asked: corrected, found: await corrected('/app') };
}

function refusedFinding({ id, host }: CheckedApp, { status, ...answer }: Answer): Finding {
  const name = hostNameOf(host);
  if (status === 404) {
    const remedy = `${name} knows no App ${id}. Set GITHUB_APP_ID to the number on the page of your App.`;
    return problem(APP, `${id} is not known`, remedy);
  }
  const says = hostText(wordOf({ status, ...answer }, 'message'));
  const remedy = `${name} says: ${says}. Make a private key on the page of App ${id}, and set GITHUB_APP_KEY to the text of that file.`;
  return problem(APP, `is refused: the key is not that of App ${id}`, remedy);
}

function installedFinding(found: Answer): Finding {
  const slug = hostText(wordOf(found, 'slug'));
  const count = fieldOf(found, 'installations_count');
  const accounts =
    count === 1 ? '1 account has' : `${typeof count === 'number' ? count : 'no'} accounts have`;
  return { subject: APP, state: 'ok', says: `${slug}, which ${accounts} installed` };
}

/** Compares permissions with what the service needs, also those that accounts have granted. */
function permissionFinding(own: Permissions, installations: readonly unknown[], settings: string): Finding {
  const missing = missingIn(own);
  if (missing.length > 0) {
    const remedy = `Grant ${missing.join(', ')} at ${settings}/permissions, and ask who has installed the App to accept it.`;
    return problem(PERMISSIONS, `${missing.join(', ')} missing`, remedy);
  }
  const excess = Object.keys(own).filter((name) => isExcess(name, own[name]));
  if (excess.length > 0) {
    const remedy = `Take ${excess.join(', ')} back at ${settings}/permissions: the service never uses it, and a thief of the key could.`;
    return warning(PERMISSIONS, `more than are needed: ${excess.join(', ')}`, remedy);
  }
  const lacking = installations.filter((one) => missingIn(permissionsOf(one)).length > 0).length;
  if (lacking === 0) return { subject: PERMISSIONS, state: 'ok', says: 'exactly those that are needed' };
  const remedy =
    'There the account writes, until the maintainers accept the permissions that the App asks for.';
  return warning(PERMISSIONS, `not yet accepted by ${lacking} of those who have it`, remedy);
}

function missingIn(granted: Permissions): string[] {
  const needed = Object.entries(APP_PERMISSIONS).filter(
    ([name, level]) => granted[name] !== level && granted[name] !== 'write',
  );
  return needed.map(([name, level]) => `${name}: ${level}`);
}

function isExcess(name: string, level: string | undefined): boolean {
  return name !== OPTIONAL && level !== APP_PERMISSIONS[name];
}

/** Checks where the webhook leads, what it tells, and whether the service takes its signature. */
async function hookFinding(
  { serviceUrl, webhookSecret }: CheckedApp,
  found: Answer,
  asked: Asked,
  settings: string,
): Promise<Finding> {
  if (webhookSecret === null) {
    const remedy = `Set GITHUB_WEBHOOK_SECRET (\`openssl rand -hex 32\`), and the same as Webhook secret at ${settings}.`;
    return warning(HOOK, 'none: what maintainers do is noticed within a minute', remedy);
  }
  const url = serviceUrl + HOOK_PATH;
  const config = await asked('/app/hook/config');
  const set = 'why' in config ? '' : wordOf(config, 'url');
  if (set !== url) {
    const remedy = `Set Webhook URL at ${settings} to ${url}, and make it active.`;
    return problem(HOOK, set === '' ? 'is not set at GitHub' : `leads to ${hostText(set)}`, remedy);
  }
  if (!('why' in config) && wordOf(config, 'content_type') !== 'json') {
    return problem(HOOK, 'does not send JSON', `Set its content type at ${settings} to application/json.`);
  }
  const events = listOf(fieldOf(found, 'events'));
  const untold = EVENTS.filter((event) => !events.includes(event));
  if (untold.length > 0) {
    const remedy = `Subscribe to ${untold.join(', ')} at ${settings}/permissions.`;
    return problem(HOOK, `does not tell of ${untold.join(', ')}`, remedy);
  }
  return answerFinding(url, webhookSecret);
}

/** Sends the service a signed delivery that names nothing, and one that nobody has signed. */
async function answerFinding(url: string, secret: string): Promise<Finding> {
  const body = JSON.stringify({ zen: 'npm run doctor' });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  try {
    const [signed, forged] = [await post(url, body, signature), await post(url, body, '')];
    if (signed === 204 && forged === 401)
      return { subject: HOOK, state: 'ok', says: 'arrives, and is signed' };
    const remedy =
      signed === 404
        ? 'The running service has no GITHUB_WEBHOOK_SECRET. Set it there, and start or deploy it again.'
        : signed === 401
          ? 'The running service has another GITHUB_WEBHOOK_SECRET. Set the same here, there and at GitHub.'
          : 'Something in front of the service answers in its place. Let POST requests through to it.';
    return problem(HOOK, `does not arrive (${signed === 204 ? forged : signed})`, remedy);
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    const remedy = `Nobody answers at ${url} (${cause?.code ?? message}). Start or deploy the service, or correct SERVICE_URL.`;
    return warning(HOOK, 'unknown: the service does not answer', remedy);
  }
}

async function post(url: string, body: string, signature: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': signature };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
  await answer.body?.cancel();
  return answer.status;
}

/** Reads the permissions of an App or of an installation. */
function permissionsOf(json: unknown): Permissions {
  const { permissions } = (json ?? {}) as { permissions?: unknown };
  return typeof permissions === 'object' && permissions !== null ? (permissions as Permissions) : {};
}

function listOf(answer: unknown): readonly unknown[] {
  const list = typeof answer === 'object' && answer !== null && 'json' in answer ? answer.json : answer;
  return Array.isArray(list) ? list : [];
}

function problem(subject: string, says: string, remedy: string): Finding {
  return { subject, state: 'problem', says, remedy };
}

function warning(subject: string, says: string, remedy: string): Finding {
  return { subject, state: 'warning', says, remedy };
}
