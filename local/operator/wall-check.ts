/**
 * Checks whether Git reaches the service at SERVICE_URL, or something in front of it answers
 * instead. Sends, as Git does, the two requests that such walls take for an attack. The service
 * answers both without asking a code host.
 */
import type { Config } from '../../src/config/config.ts';
import type { Finding } from './finding.ts';

const TIMEOUT_MS = 10_000;
/** Path of a repository that does not exist. The flush-pkt pushes nothing. */
const PATH = '/v1/gh/gitveil/gitveil-asks-for-a-wall/git-receive-pack';
const FLUSH = '0000';
/** Type of the service's answer, whatever it thinks of the push. No wall answers with it. */
const RESULT_TYPE = 'application/x-git-receive-pack-result';
/** Size of a body in which a firewall finds what looks like code. Many proxies refuse it. */
const LARGE_BYTES = 200_000;

interface Answer {
  readonly status: number;
  readonly header: (name: string) => string;
  readonly text: string;
}

type Row = readonly [when: (answer: Answer) => boolean, remedy: string];

/** Remedies by the form of the answer; the first that fits is told. */
const WALLS: readonly Row[] = [
  // developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response
  [
    ({ header }) => header('cf-mitigated') === 'challenge',
    'Cloudflare challenges whoever comes, which no Git client can answer. Turn Bot Fight Mode and Under Attack mode off, and skip Managed Challenges for this host name.',
  ],
  // developers.cloudflare.com/cloudflare-one/access-controls: a login page on another server.
  [
    ({ header }) => /\.cloudflareaccess\.com\//.test(header('location')),
    'Cloudflare Access demands a login. Remove its application for this host name.',
  ],
  [
    ({ status, header }) => status >= 300 && status < 400 && header('location') !== '',
    'It redirects, and Git does not push to where that leads. Set SERVICE_URL to the address that answers, and redirect no POST.',
  ],
  // developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors: the
  // words of a page for browsers; a program gets `error code: 1010` as plain text.
  [
    ({ text }) => /error code: ?1010|\b1010\b.*browser/is.test(text),
    'Cloudflare’s Browser Integrity Check refuses Git (error 1010). Turn it off for this host name.',
  ],
  [
    ({ text }) => /error code: ?1015|\b1015\b.*rate limited/is.test(text),
    'A rate limiting rule of Cloudflare refuses it (error 1015). Remove that rule: the service has limits of its own.',
  ],
  // developers.cloudflare.com/logs/reference/waf-fields: a rule that blocks answers 403.
  [
    ({ status, header }) => header('server') === 'cloudflare' && (status === 403 || status === 503),
    'A rule of Cloudflare blocks it: a WAF managed or custom rule, or Super Bot Fight Mode. Security → Events names the rule; skip it for this host name.',
  ],
  // nginx.org/en/docs/http/ngx_http_core_module.html#client_max_body_size
  [
    ({ status }) => status === 413,
    'A proxy takes no body of that size. With nginx, set client_max_body_size to 0, as deploy/nginx.conf does.',
  ],
  [
    ({ status }) => status === 502 || status === 504,
    'A proxy does not reach the service. Start it, and look at the address that the proxy passes requests to.',
  ],
  [
    ({ text }) => text.includes('the service is not configured'),
    'The service there is not configured: open its address, which names the variables, and correct them.',
  ],
  [
    () => true,
    'Something in front of the service answers in its place. Let POST requests of every size, and every User-Agent, through to it.',
  ],
];

/** Asks the service, unless SERVICE_URL is not set. Never rejects. */
export async function wallFindings({ serviceUrl, isServiceUrlGiven }: Config): Promise<Finding[]> {
  if (!isServiceUrlGiven) return [];
  const { host } = new URL(serviceUrl);
  const subject = 'the way here';
  try {
    const [small, large] = await Promise.all(
      [FLUSH, FLUSH.padEnd(LARGE_BYTES, '<')].map((body) => post(serviceUrl, body)),
    );
    const wall = [small, large].find((answer) => answer !== undefined && isWall(answer));
    if (wall === undefined) return [{ subject, state: 'ok', says: `open: ${host} answers pushes` }];
    const what = wall === small ? 'a push' : 'a push of 200 KB';
    const says = `closed: ${what} does not arrive (${wall.status})`;
    return [{ subject, state: 'problem', says, remedy: remedyOf(wall) }];
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    const remedy = `Nobody answers at ${serviceUrl} (${cause?.code ?? message}). Start or deploy the service, or correct SERVICE_URL.`;
    return [{ subject, state: 'warning', says: `unknown: ${host} does not answer`, remedy }];
  }
}

const isWall = ({ status, header }: Answer): boolean =>
  status !== 200 || header('content-type') !== RESULT_TYPE;

export function remedyOf(answer: Answer): string {
  return WALLS.find(([when]) => when(answer))?.[1] ?? '';
}

async function post(serviceUrl: string, body: string): Promise<Answer> {
  const response = await fetch(serviceUrl + PATH, {
    method: 'POST',
    headers: {
      'User-Agent': 'git/2.39.5',
      'Content-Type': 'application/x-git-receive-pack-request',
      Accept: RESULT_TYPE,
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const header = (name: string): string => response.headers.get(name) ?? '';
  return { status: response.status, header, text: (await response.text()).slice(0, 10_000) };
}
