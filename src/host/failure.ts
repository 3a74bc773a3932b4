/**
 * Interprets HTTP answers with which a code host refuses or fails, for both of its interfaces and
 * every kind of host: by tables of operation, status, headers and body. Retries, pauses, alerts and
 * sentences follow from the `Failure` of a row. "Rate limits" is
 * docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "Exceeding the rate limit".
 */
import { type Failure, HostError, type HostErrorCode } from '../words/host-error.ts';
import { hostText, oneLine } from '../words/host-text.ts';

/**
 * The kinds of calls. `post` creates a comment, an issue or a private report, `branch` a branch on
 * a fork. `push` goes to a fork, `offer` to upstream (AGit flow). `write` is any other change.
 */
export type Operation = 'read' | 'write' | 'post' | 'fork' | 'branch' | 'open' | 'push' | 'offer';

export interface HostAnswer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  /** The sentences of the body, or their beginning. */
  readonly text: string;
  /** The service of Git. Without it, the answer is of the REST interface. */
  readonly service?: string;
}

export interface RefusedCall extends HostAnswer {
  readonly operation: Operation;
  /** The codes in the `errors` of a 422. */
  readonly codes: readonly string[];
  /** True if the call was made without the bot's token. */
  readonly isPublic?: boolean;
  /** The branch that a pull request is to be merged into. */
  readonly base?: unknown;
  /** True if the App has made the call; else the account has. */
  readonly isApp?: boolean;
}

/** A condition for the body or the headers. */
type When = RegExp | ((answer: RefusedCall) => boolean);

interface Row {
  readonly to?: readonly Operation[];
  readonly status: readonly number[];
  readonly when?: When;
}

interface MeaningRow extends Row {
  /** The code of the error, by default `refused`. */
  readonly code?: HostErrorCode;
  readonly means?: Partial<Failure>;
  /** A sentence that replaces the host's own words. */
  readonly sentence?: string;
}

const WRITES = ['write', 'post', 'fork', 'branch', 'open', 'push', 'offer'] as const;

/**
 * Answers that ask for a pause, because the account has made too many calls. Going on elsewhere
 * could cost it. Nothing has been done.
 */
const LIMITS: readonly Row[] = [
  // RFC 6585, section 4; "Rate limits". Proxies in front of Forgejo and Gitea say so, too.
  { status: [429] },
  // "Rate limits": a secondary limit may come with the time to wait, and a primary one with nothing
  // left.
  { status: [403], when: hasHeader('retry-after', /\S/) },
  { status: [403], when: hasHeader('x-ratelimit-remaining', /^0$/) },
  // A text, or the address that explains it: apache/devlake#1322, nf-core/tools#970. Names in it
  // hold no space.
  {
    status: [403],
    when: /rate limit|#(?:about-)?(?:secondary|abuse)-rate-limits|rest\/(?:overview|using-the-rest-api)\/rate-limits|abuse detection|blocked from content/i,
  },
  // Too much was created: cloudflare/pint#699, octokit/plugin-throttling.js#775; cli/cli#4801,
  // whatwg/spec-factory#55.
  { to: WRITES, status: [422], when: ({ codes }) => codes.includes('abuse') },
  { to: WRITES, status: [403, 422], when: /submitted too quickly/i },
];

/**
 * An answer that says that the host is down, and for how long: RFC 9110, 15.6.4 and 10.2.3. A post,
 * a pull request or a push may have been carried out. Other calls can be repeated without harm.
 */
const DOWN: Row = { status: [503], when: hasHeader('retry-after', /\S/) };
const CREATES: ReadonlySet<Operation> = new Set(['post', 'open', 'push', 'offer']);

/**
 * Matches what both interfaces say of a suspended account. GitHub's sentence about the owner of a
 * repository begins with "This": github/site-policy#1258. Gitea and Forgejo:
 * services/context/{user,api}.go, "prohibited from signing in".
 */
export const SUSPENDED_TEXT =
  /\byour account (?:is|was|has been) suspended|prohibited from signing in|account is not activated/i;

const AGAIN = { lasts: 'moment' } as const;
const OURS = { whose: 'ours' } as const;
const MISSING = 'The repository does not exist, or is not public.';

/**
 * The meanings of answers. The first row that fits decides. Without one, it is a refusal, below 400
 * a redirect, or from 500 on a fault of the host.
 */
const ROWS: readonly MeaningRow[] = [
  // Without a token, hosts answer so to whoever asks for what the public may not see.
  { status: [401, 403], when: ({ isPublic }) => isPublic === true, code: 'missing', sentence: MISSING },
  { status: [403], when: SUSPENDED_TEXT, means: OURS },
  // Its own words tell the owner of a token what to do: refined-github/refined-github#6951,
  // NixOS/org#247, ossf/scorecard#1504. Git's words: os-climate/os_c_data_commons#366.
  {
    status: [403],
    when: /forbids access via a|\(classic\) are forbidden|protected by organization SAML/i,
    sentence:
      'The organization that owns the repository does not accept the kind of token that this service has, so nothing ' +
      'can be contributed there through it. Its maintainers can change that; trying again cannot.',
  },
  // A scope is missing: routers/api/v1/api.go of Gitea, tokenRequiresScopes. GitHub: cli/cli#7574;
  // "Resource not accessible",
  // docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api.
  {
    status: [403, 422],
    when: /required scope|public-only tokens|without `workflow` scope|resource not accessible by/i,
    means: OURS,
  },
  // A token for public repositories, on a private one (Gitea: checkTokenPublicOnly). For the
  // service it does not exist.
  { status: [403], when: /token scope is limited to public/, code: 'missing', means: { status: 404 } },
  // The maintainers have switched private reports off: forgekeep/nebula-mesh#118.
  {
    to: ['post'],
    status: [403],
    when: /private vulnerability reporting/i,
    sentence: 'The repository takes no private reports: its maintainers have not switched them on.',
  },
  // One among good answers is a fault: renovatebot/renovate#17822. `Rest.retried` asks again.
  { status: [401], means: { ...AGAIN, ...OURS } },
  // To the bot's own fork, so no repository is to blame.
  { to: ['push'], status: [403], means: { ...AGAIN, ...OURS } },
  // A proxy's limit: docs.gitea.com/administration/reverse-proxies, "client_max_body_size";
  // gogs/gogs#4970.
  {
    to: ['push', 'offer'],
    status: [413],
    sentence:
      'The code host does not take so large a push (413). Push fewer commits at once, or smaller files.',
  },
  // The pack came too slowly: aquasecurity/btfhub#83. RFC 9110, 15.5.9, lets a client repeat it.
  { status: [408], code: 'unreachable', sentence: 'The code host did not get all of it in time (408).' },
  // Quota of Gitea and Forgejo: forgejo.org/docs/latest/admin/advanced/quota.
  { status: [413], means: OURS },
  // "Can't read pulls or can't read UnitTypeCode": parseCompareInfo in routers/api/v1/repo/pull.go,
  // Gitea.
  {
    to: ['open'],
    status: [404],
    when: /can't read/i,
    sentence: 'The repository takes no pull requests from the bot account of this service.',
  },
  // After a push, GitHub's REST lags: milvus-io/pymilvus#2956; older: octokit/octokit.rb#622,
  // octokit/octokit.net#879.
  {
    to: ['open'],
    status: [422],
    when: /head invalid|head sha can't be blank|head_sha|no commits between|not all refs are readable/i,
    means: { ...AGAIN, whose: 'theirs' },
  },
  // Opened by an attempt whose answer was lost:
  // docs.github.com/rest/pulls/pulls#create-a-pull-request. Gitea: 409.
  {
    to: ['open'],
    status: [409, 422],
    when: /already exists/i,
    code: 'unreachable',
    means: { lasts: 'until' },
  },
  // docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api, "Validation Failed".
  // Gitea: parseCompareInfo.
  {
    to: ['open'],
    status: [404, 422],
    when: /base invalid|BaseNotExist/,
    sentence: 'The base branch{base} is not there any more. Fetch, and push to another branch.',
  },
  // SWE-agent/SWE-agent#179, mislav/hub#2099.
  {
    to: ['open'],
    status: [422],
    when: /draft pull requests are not supported/i,
    sentence: 'The repository takes no drafts. Push again without -o draft.',
  },
  // All that GitHub says to an account that may not do it; one, for example, that has as many pull
  // requests open as the repository allows: citrineos/citrineos-core#1103. Whether the repository
  // is there, a read tells.
  {
    to: ['open'],
    status: [404],
    sentence:
      'The code host does not let this service open a pull request there, and does not say why. ' +
      'The repository may limit how many pull requests an account has open.',
  },
  // CommonWealthRobotics/BowlerStudio#342. Most forks get another name: octokit/octokit.js#483.
  {
    to: ['fork'],
    status: [422],
    when: /name already exists/i,
    means: { ...AGAIN, whose: 'theirs' },
    sentence: 'The bot account has another repository of this name, or its fork is just being made.',
  },
  // The fork is new, or the token may not do it: octokit/octokit.rb#622,
  // mislav/bump-homebrew-formula-action#23.
  {
    to: ['branch'],
    status: [404],
    sentence:
      'The code host does not let this service make a branch on its fork. Push again in a few minutes; ' +
      'if that does not help, tell the operator of this service.',
  },
  {
    to: ['fork'],
    status: [404],
    sentence: 'The code host does not let this service fork the repository, and does not say why.',
  },
  // docs.github.com/rest/issues/issues#get-an-issue; Gitea: APIErrorNotFound in
  // services/context/api.go.
  {
    to: ['read'],
    status: [404],
    when: /#get-an-issue\b|target couldn't be found/i,
    code: 'missing',
    sentence: MISSING,
    means: { knowsCall: true },
  },
  // The App is gone, which says nothing of the repository: issc29/probot-prevent-public-repos#4.
  { status: [404], when: /integration not found/i, means: OURS },
  { status: [404], code: 'missing', sentence: MISSING },
  // No longer, or not to be shown: RFC 9110, 15.5.11; RFC 7725.
  { status: [410, 451], code: 'missing' },
];

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/**
 * Maximum pause. No host asks for more, and a longer one in a header would take the service down.
 */
export const LONGEST_PAUSE_MS = 60 * MINUTE_MS;

/** The pause that a host asks for. */
type Limit = Pick<Failure, 'effect' | 'retryAfterMs' | 'says'>;

/**
 * Reads the pause that an answer asks for.
 * @param now is in milliseconds since 1970.
 * @returns null if it asks for none.
 */
export function limitOf(answer: RefusedCall, now: number): Limit | null {
  const isDown = fits(DOWN, answer);
  if (!isDown && !LIMITS.some((row) => fits(row, answer))) return null;
  const effect = isDown && CREATES.has(answer.operation) ? 'unknown' : 'none';
  return { effect, retryAfterMs: retryAfterMs(answer, now), says: hostText(answer.text) };
}

/**
 * Makes the error of a refused call that asks for no pause.
 * @param says has the host's words, cleaned.
 */
export function hostRefusal(answer: RefusedCall, hostName: string, says: string): HostError {
  const { status, base, operation } = answer;
  const row = ROWS.find((one) => fits(one, answer));
  const { code = 'refused', means, sentence } = row ?? {};
  const failure: Partial<Failure> = { status, says, ...effectOf(operation), ...means };
  if (row === undefined && status >= 500) return noAnswer(hostName, undefined, operation, failure);
  const refused = (as: HostErrorCode, message: string) => new HostError(as, message, undefined, failure);
  if (status < 400) return refused('moved', `${hostName} redirects to another address. Try again later.`);
  const branch = typeof base === 'string' ? ` "${oneLine(base)}"` : '';
  if (sentence !== undefined)
    return refused(
      code,
      sentence.replace('{base}', () => branch),
    );
  const words = says || 'no reason';
  const isOurs = failure.whose === 'ours';
  const actor = answer.isApp === true ? 'the App of this service' : 'the bot account';
  const message = isOurs ? `refuses ${actor}: ${words} (${status})` : `says: ${words}`;
  return refused(code, `${hostName} ${message}`);
}

/**
 * Makes the error for an answer that is missing or cannot be believed. The host may have carried
 * out the call, unless it was a read.
 */
export function noAnswer(
  hostName: string,
  cause: unknown,
  operation?: Operation,
  means: Partial<Failure> = {},
): HostError {
  const message = `${hostName} did not answer as expected. Try again later.`;
  return new HostError('unreachable', message, cause, { ...effectOf(operation), ...means });
}

/** Says that a read changes nothing. */
const effectOf = (operation?: Operation): Partial<Failure> =>
  operation === 'read' ? { effect: 'none' } : {};

/** Says that the host asks for a pause, or did so before. */
export class HostPause extends HostError {
  constructor(hostName: string, pauseMs: number, limit: Partial<Limit> = {}, status: number | null = null) {
    const code = limit.effect === 'unknown' ? 'unreachable' : 'rate-limited';
    super(code, `${hostName} asks to wait ${minutes(pauseMs)}.`, undefined, {
      ...limit,
      lasts: 'until',
      retryAfterMs: pauseMs,
      status,
    });
  }
}

/**
 * Reads the time of an answer by the host's clock, in milliseconds since 1970. It is the service's
 * own if the host does not say.
 */
export function hostTime(header: HostAnswer['header'], now: number): number {
  const date = Date.parse(header('date') ?? '');
  return Number.isNaN(date) ? now : date;
}

function fits({ to, status, when = () => true }: Row, answer: RefusedCall): boolean {
  if (!status.includes(answer.status) || to?.includes(answer.operation) === false) return false;
  return when instanceof RegExp ? when.test(answer.text) : when(answer);
}

function hasHeader(name: string, value: RegExp): When {
  return ({ header }) => value.test(header(name) ?? '');
}

/**
 * Reads how long to wait: from Retry-After, in seconds or as a date (RFC 9110, 10.2.3), or else
 * until the host starts counting again.
 */
function retryAfterMs({ header }: HostAnswer, now: number): number | null {
  const hostNow = hostTime(header, now);
  const asked = header('retry-after')?.trim() || 'nothing';
  const resetsAt = header('x-ratelimit-remaining') === '0' ? header('x-ratelimit-reset') : null;
  const ms = [
    Number(asked) * SECOND_MS,
    Date.parse(asked) - hostNow,
    Number(resetsAt ?? 'unknown') * SECOND_MS - hostNow,
  ].find((delay) => !Number.isNaN(delay));
  return ms === undefined ? null : Math.min(LONGEST_PAUSE_MS, Math.max(SECOND_MS, ms));
}

function minutes(ms: number): string {
  const count = Math.ceil(ms / MINUTE_MS);
  return count === 1 ? '1 minute' : `${count} minutes`;
}
