/**
 * What GitHub answers besides success, word by word: for faults, so that tests need not invent it. Each with its public
 * source.
 */
import type { Fault } from './faults.ts';

type Answer = NonNullable<Fault['answer']>;

const DOCS = 'https://docs.github.com/rest';

/**
 * A redirect of a write. GitHub sends 307 today; 301 is documented, and what Gitea sends.
 * Source: docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api, "Follow redirects".
 */
export function moved(status: 301 | 302 | 303 | 307, location: string): Answer {
  const body = { message: 'Moved Permanently', url: location, documentation_url: DOCS };
  return { status, headers: { location }, body };
}

/**
 * 422 with a list of what is wrong. Details may have `field` and `code` alone.
 * Source: docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api, "Validation Failed".
 */
export function validationFailed(...errors: readonly object[]): Answer {
  return { status: 422, body: { message: 'Validation Failed', errors, documentation_url: DOCS } };
}

/**
 * Two places know a branch that was pushed a moment ago: Git at once, and the REST interface when it gets round to it.
 * Source of the body: spdx/spdx-online-tools#425.
 */
export const HEAD_INVALID = validationFailed({ resource: 'PullRequest', field: 'head', code: 'invalid' });

/** Source of the sentence: docs.github.com/rest/pulls/pulls#create-a-pull-request; Financial-Times/nori#65. */
export function pullRequestExists(head: string): Answer {
  const message = `A pull request already exists for ${head}.`;
  return validationFailed({ resource: 'PullRequest', code: 'custom', message });
}

/**
 * A secondary limit that only its text tells from another 403.
 * Source: apache/devlake#1322; docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "About secondary rate
 * limits".
 */
export const SECONDARY_TEXT =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

export const SECONDARY_LIMIT = {
  status: 403,
  body: {
    message: SECONDARY_TEXT,
    documentation_url: `${DOCS}/overview/resources-in-the-rest-api#secondary-rate-limits`,
  },
} satisfies Answer;

/**
 * An organization's list of addresses. Repeating the address is an older form; today's says "your IP address".
 * Source: microsoft/PullRequestQuantifier#118, cli/cli#12150.
 */
export const NOT_ALLOWED_TEXT =
  'Although you appear to have the correct authorization credentials, the `octo` organization has an IP allow list enabled, and 203.0.113.77 is not permitted to access this resource.';

export const NOT_ALLOWED_REST: Answer = {
  status: 403,
  body: { message: NOT_ALLOWED_TEXT, documentation_url: DOCS },
};

export const NOT_ALLOWED_GIT: Answer = { status: 403, body: `${NOT_ALLOWED_TEXT}\n` };

/** The account is suspended: both interfaces answer 403. Source: github/site-policy#1258. */
export const SUSPENDED_TEXT =
  'Your account is suspended. Please visit https://support.github.com for more information.';

export const SUSPENDED_REST: Answer = { status: 403, body: { message: SUSPENDED_TEXT } };

export const SUSPENDED_GIT: Answer = { status: 403, body: `${SUSPENDED_TEXT}\n` };

const WORKFLOW_REFUSAL =
  'refusing to allow a Personal Access Token to create or update workflow `.github/workflows/ci.yml` without `workflow` scope';

const pkt = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;

/** receive-pack's report where a token without the scope `workflow` pushes workflows. Source: oiooj in categraf#34. */
export function workflowRefused(branch: string): Answer {
  return pushRefused(branch, WORKFLOW_REFUSAL);
}

/** receive-pack's report of a push that it refuses. @param messages in the band for people. */
export function pushRefused(branch: string, reason: string, messages = ''): Answer {
  const report = `${pkt('unpack ok\n')}${pkt(`ng refs/heads/${branch} ${reason}\n`)}0000`;
  const headers = { 'content-type': 'application/x-git-receive-pack-result' };
  const told = messages === '' ? '' : pkt(`\u0002${messages}`);
  return { status: 200, headers, body: `${told}${pkt(`\u0001${report}`)}0000` };
}
