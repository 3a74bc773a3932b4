/**
 * Answers of GitHub besides success, and some of other hosts and of proxies, for faults, so that
 * tests need not invent them. Most name their public source.
 */
import type { Fault } from './faults.ts';
import { pkt } from './pkt-line.ts';

export type KnownAnswer = NonNullable<Fault['answer']>;

const DOCS = 'https://docs.github.com/rest';

/**
 * A redirect of a write. GitHub sends 307 today. 301 is documented, and Gitea sends it. Source:
 * docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api, "Follow
 * redirects".
 */
export function moved(status: 301 | 302 | 303 | 307, location: string): KnownAnswer {
  const body = { message: 'Moved Permanently', url: location, documentation_url: DOCS };
  return { status, headers: { location }, body };
}

export const VALIDATION_FAILED = 'Validation Failed';

/**
 * A 422 with the list of what is wrong. Details may have `field` and `code` alone. Source:
 * docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api, "Validation Failed".
 */
export function validationFailed(...errors: readonly object[]): KnownAnswer {
  return { status: 422, body: { message: VALIDATION_FAILED, errors, documentation_url: DOCS } };
}

/**
 * A secondary limit that only its text tells from another 403. Source: apache/devlake#1322;
 * docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "About secondary rate
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
} satisfies KnownAnswer;

/**
 * An organization's list of addresses. Repeating the address is an older form; today's says "your
 * IP address". Source: microsoft/PullRequestQuantifier#118, cli/cli#12150.
 */
export const NOT_ALLOWED_TEXT =
  'Although you appear to have the correct authorization credentials, the `octo` organization has an IP allow list enabled, and 203.0.113.77 is not permitted to access this resource.';

export const NOT_ALLOWED_REST: KnownAnswer = {
  status: 403,
  body: { message: NOT_ALLOWED_TEXT, documentation_url: DOCS },
};

export const NOT_ALLOWED_GIT: KnownAnswer = { status: 403, body: `${NOT_ALLOWED_TEXT}\n` };

/** An organization that refuses classic tokens. Source: refined-github/refined-github#6951. */
export const CLASSIC_FORBIDDEN_REST = {
  status: 403,
  body: {
    message:
      'octo forbids access via a personal access token (classic). Please use a GitHub App, OAuth App, or a personal access token with fine-grained permissions.',
    documentation_url: DOCS,
  },
} satisfies KnownAnswer;

/** The same refusal by Git. Source: os-climate/os_c_data_commons#366. */
export const CLASSIC_FORBIDDEN_GIT = {
  status: 403,
  body: 'Personal access tokens (classic) are forbidden from accessing this repository.\n',
} satisfies KnownAnswer;

/** The account is suspended: both interfaces answer 403. Source: github/site-policy#1258. */
export const SUSPENDED_TEXT =
  'Your account is suspended. Please visit https://support.github.com for more information.';

export const SUSPENDED_REST: KnownAnswer = { status: 403, body: { message: SUSPENDED_TEXT } };

/**
 * Words for a token without the scope `workflow` that changes a workflow. Source:
 * refined-github#7641 and many others.
 */
export function workflowWords(path: string): string {
  return `refusing to allow a Personal Access Token to create or update workflow \`${path}\` without \`workflow\` scope`;
}

/** Report of receive-pack with these words. Source: oiooj in categraf#34. */
export function workflowRefused(branch: string): KnownAnswer {
  return pushRefused(branch, workflowWords('.github/workflows/ci.yml'));
}

/**
 * Report of receive-pack for a push that it refuses.
 * @param messages in the band for people.
 */
export function pushRefused(branch: string, reason: string, messages = ''): KnownAnswer {
  const report = `${pkt('unpack ok\n')}${pkt(`ng refs/heads/${branch} ${reason}\n`)}0000`;
  const headers = { 'content-type': 'application/x-git-receive-pack-result' };
  const told = messages === '' ? '' : pkt(`\u0002${messages}`);
  return { status: 200, headers, body: `${told}${pkt(`\u0001${report}`)}0000` };
}

/** Push protection. Source: palxiao/poster-design#140, Commando-X/vuln-bank#53. */
export const SECRETS_FOUND = `error: GH013: Repository rule violations found for refs/heads/main.

- GITHUB PUSH PROTECTION
  —————————————————————————————————————————
    Resolve the following violations before pushing again

    - Push cannot contain secrets

     (?) Learn how to resolve a blocked push
     https://docs.github.com/code-security/secret-scanning/pushing-a-branch-blocked-by-push-protection

      —— GitHub Personal Access Token ——————————————————————
       locations:
         - commit: 5477a7dd26384ed3c8b3814ee677f755ad27a597
           path: src/api/github.ts:34

       (?) To push, remove secret from commit(s) or follow this URL to allow the secret.
       https://github.com/gitveil-bot/hello/security/secret-scanning/unblock-secret/2gakJrAududURpxlhIZdNlX14ZZ
`;

/** A file of more than 100 MB. Source: sanskrit-lexicon/COLOGNE#365. */
export const LARGE_FILE = `error: Trace: 83e8ea79de23baec9c518a4d315dd573d674408018cc5f3819c790d19f05bdb0
error: See http://git.io/iEPt8g for more information.
error: File boesp-1.pdf is 122.92 MB; this exceeds GitHub's file size limit of 100.00 MB
error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.
`;

/** Files of Git LFS that were not uploaded. Source: sinbad/lfs-folderstore#13. */
export const LFS_UNKNOWN = `error: GH008: Your push referenced at least 1 unknown Git LFS objects:
    d2d36233d085db6ebd5aa073a3fff219f1c67e0e7a2243da1b2f761cdc404290
Try to push them with 'git lfs push --all'.
`;

/**
 * The address of the commits is private, whichever account has it. Source: lumen-notes/lumen#436,
 * AlexandreMeslin/ENG4021#14.
 */
export const ADDRESS_PRIVATE = `error: GH007: Your push would publish a private email address.
You can make your email public or disable this protection by visiting:
https://github.com/settings/emails
`;
export const ADDRESS_PRIVATE_REASON = 'push declined due to email privacy restrictions';

/**
 * Message of a hook that asks who has written the commits. Source of the rule:
 * github/platform-samples#151.
 */
export const AUTHOR_UNKNOWN = `ERROR: the author email of your commits is not known here.
Sign our Contributor License Agreement first.
`;

/**
 * The host cannot read the refs of a pull request. Source: milvus-io/pymilvus#2956,
 * microsoft/vscode-pull-request-github#2391, octokit/octokit.rb#622.
 */
export const REFS_UNREADABLE = validationFailed(
  { resource: 'PullRequest', code: 'custom', message: "Head sha can't be blank" },
  { resource: 'PullRequest', code: 'custom', message: 'No commits between main and anon-1' },
  { resource: 'PullRequest', code: 'custom', message: 'not all refs are readable' },
);

/** The repository has no drafts. Source: SWE-agent/SWE-agent#179, mislav/hub#2099. */
export const NO_DRAFTS: KnownAnswer = {
  status: 422,
  body: { message: 'Draft pull requests are not supported in this repository.', documentation_url: DOCS },
};

/** The base was deleted. Source: the documentation of 422, as above. */
export const BASE_INVALID = validationFailed({ resource: 'PullRequest', field: 'base', code: 'invalid' });

/** The owner has blocked the account. Source: odoo/runbot#127. */
export const USER_BLOCKED = validationFailed({
  resource: 'IssueComment',
  code: 'unprocessable',
  field: 'data',
  message: 'User is blocked',
});

/**
 * A token that may not do it. Source:
 * docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api, "Resource not accessible".
 */
export const TOKEN_NOT_ACCESSIBLE = {
  status: 403,
  body: { message: 'Resource not accessible by personal access token', documentation_url: DOCS },
} satisfies KnownAnswer;

/**
 * A private report without what the host needs, which it does not name. Source:
 * nubbymong/claude-command-center#207.
 */
export const REPORT_FAULT: KnownAnswer = { status: 500, body: '' };

/**
 * The token is not valid. A new one of an App's installation may be refused so for some seconds
 * (octokit/auth-app.js#65 and #85). Source:
 * docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api.
 */
export const BAD_CREDENTIALS: KnownAnswer = {
  status: 401,
  body: { message: 'Bad credentials', documentation_url: DOCS, status: '401' },
};

export const NOT_FOUND: KnownAnswer = {
  status: 404,
  body: { message: 'Not Found', documentation_url: DOCS },
};

/** A host under maintenance, or a proxy in front of it. Source: RFC 9110, 15.6.4. */
export const DOWN_FOR_TWO_MINUTES: KnownAnswer = { status: 503, headers: { 'retry-after': '120' } };

/**
 * Paths of the forms to which GitHub Enterprise Server, Gitea and Forgejo, and GitLab send people
 * who are not signed in. The first three answer Git with 401 themselves; a proxy may not. Source:
 * for GitLab, gitextensions/gitextensions#12182.
 */
export const SIGN_IN_PATHS = [
  '/login?return_to=%2F',
  '/user/login?redirect_to=%2F',
  '/users/sign_in',
] as const;

export function signIn(path: (typeof SIGN_IN_PATHS)[number]): KnownAnswer {
  return { status: 302, headers: { location: path, 'content-type': 'text/html; charset=utf-8' } };
}

/**
 * A page with status 200 in place of Git's answer: from a proxy that wants a browser, or from a
 * server that wants people to sign in. Source: gogs/gogs#80; the page's words are those of
 * TecharoHQ/anubis, lib/localization/locales/en.json.
 */
export const PAGE_FOR_BROWSERS: KnownAnswer = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html><html lang="en"><title>Making sure you\'re not a bot!</title></html>',
};

/** The pack took too long to arrive. Source: aquasecurity/btfhub#83; RFC 9110, 15.5.9. */
export const PUSH_TIMED_OUT: KnownAnswer = { status: 408, body: '' };

/**
 * Refusal of a fork because its name is taken, though GitHub usually chooses another name. Source:
 * CommonWealthRobotics/BowlerStudio#342.
 */
export const NAME_TAKEN: KnownAnswer = {
  status: 422,
  body: {
    message: 'Repository creation failed.',
    errors: [
      {
        resource: 'Repository',
        code: 'custom',
        field: 'name',
        message: 'name already exists on this account',
      },
    ],
    documentation_url: `${DOCS}/repos/forks#create-a-fork`,
  },
};

/** The maintainers have suspended the App. Source: octokit/octokit.rb#1307. */
export const INSTALLATION_SUSPENDED: KnownAnswer = {
  status: 403,
  body: { message: 'This installation has been suspended', documentation_url: `${DOCS}/apps/apps` },
};

/**
 * The App may not do this, or is not installed there; or, in the first seconds of a token, that is
 * not known everywhere yet. Source: microsoft/winget-create#677,
 * actions/create-github-app-token#258, octokit/auth-app.js#589.
 */
export const NOT_ACCESSIBLE_TO_APP = {
  status: 403,
  headers: { 'x-accepted-github-permissions': 'pull_requests=write' },
  body: { message: 'Resource not accessible by integration', documentation_url: DOCS },
} satisfies KnownAnswer;

/** The App is signed with the key of another one. Source: actions/create-github-app-token#153. */
export const APP_TOKEN_UNREADABLE: KnownAnswer = {
  status: 401,
  body: { message: 'A JSON web token could not be decoded', documentation_url: DOCS },
};

/**
 * There is no such App, or no longer; for every repository. Source:
 * issc29/probot-prevent-public-repos#4, actions/create-github-app-token#76.
 */
export const APP_GONE: KnownAnswer = {
  status: 404,
  body: { message: 'Integration not found', documentation_url: DOCS },
};
