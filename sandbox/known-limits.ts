/**
 * Forms in which GitHub says that an account has done too much, as faults to inject. Most name
 * their public source. "Rate limits" is
 * docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "Exceeding the rate limit".
 */
import { type KnownAnswer, SECONDARY_LIMIT, SECONDARY_TEXT, validationFailed } from './known-answers.ts';

export interface KnownLimit {
  readonly name: string;
  /** Requests that get this answer. */
  readonly to: 'rest' | 'rest write' | 'git';
  readonly answer: KnownAnswer;
  /** Milliseconds for which the account has to wait; `null` if the answer does not say. */
  readonly waitMs: number | null;
}

const PAUSE_MS = 120_000;

/**
 * Makes all answers.
 * @param now the time of the host's clock, in whole seconds.
 */
export function knownLimits(now: Date): readonly KnownLimit[] {
  const date = now.toUTCString();
  const end = new Date(now.getTime() + PAUSE_MS);
  const inSeconds = { date, 'retry-after': String(PAUSE_MS / 1000) };
  const atDate = { date, 'retry-after': end.toUTCString() };
  const nothingLeft = {
    date,
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(end.getTime() / 1000),
  };
  const { body } = SECONDARY_LIMIT;
  return [
    // "Rate limits": 403 or 429, with the seconds to wait, or with nothing left, or with neither.
    ...[403, 429].flatMap((status): KnownLimit[] => [
      limit(`${status} with seconds`, 'rest', { status, headers: inSeconds, body }, PAUSE_MS),
      // RFC 9110 (10.2.3) also allows a date.
      limit(`${status} with a date`, 'rest', { status, headers: atDate, body }, PAUSE_MS),
      limit(`${status} with nothing left`, 'rest', { status, headers: nothingLeft, body: PRIMARY }, PAUSE_MS),
      limit(`${status} with a text alone`, 'rest', { status, body }),
    ]),
    // nf-core/tools#970
    limit('403 with the older text', 'rest', { status: 403, body: OLDER }),
    // octokit/plugin-throttling.js#775, cloudflare/pint#699
    limit(
      '422 with the code abuse',
      'rest write',
      validationFailed({ resource: 'PullRequest', field: 'base', code: 'abuse' }),
    ),
    // cli/cli#4801, whatwg/spec-factory#55
    limit(
      '422, submitted too quickly',
      'rest write',
      validationFailed({ resource: 'PullRequest', code: 'custom', message: 'was submitted too quickly' }),
    ),
    // sider/runners#1233
    limit('429 without a word', 'git', { status: 429 }),
    limit('429 with seconds', 'git', { status: 429, headers: inSeconds }, PAUSE_MS),
    limit('403 with a text alone', 'git', { status: 403, body: `${SECONDARY_TEXT}\n` }),
  ];
}

/**
 * The primary limit, whose text names the address that has asked. Source:
 * InsightSoftwareConsortium/ITKSoftwareGuide#86.
 */
const PRIMARY = {
  message: 'API rate limit exceeded for 203.0.113.77.',
  documentation_url: 'https://docs.github.com/rest/overview/resources-in-the-rest-api#rate-limiting',
};

const OLDER = {
  message:
    'You have triggered an abuse detection mechanism and have been temporarily blocked from content creation. Please retry your request again later.',
  documentation_url: 'https://docs.github.com/overview/resources-in-the-rest-api#abuse-rate-limits',
};

function limit(
  name: string,
  to: KnownLimit['to'],
  answer: KnownAnswer,
  waitMs: number | null = null,
): KnownLimit {
  return { name, to, answer, waitMs };
}
