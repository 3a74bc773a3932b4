/**
 * The Git remote `/v1/<host>/<owner>/<repo>`, with or without `.git` (contract, 4.5 to 4.7):
 * anonymous, without key or password. Errors that the contract does not give as JSON are plain
 * text, which Git shows behind `remote:`.
 * Proved by test/routes/pages/remote-page.test.ts and test/e2e/people/bad-input-requests.test.ts.
 */
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { REPOSITORY_PATH, repositoryPath } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { fullName, type RepositoryName } from '../../words/repository-name.ts';
import { answer, as, asError, described, error, HTML, repositoryParams, TEXT } from '../description.ts';
import { discoverFetch, uploadPack } from './git-fetch.ts';
import { discoverPush, receivePack } from './git-push.ts';
import { systemClock } from '../../isolate/clock.ts';
import { TimedConsent } from '../../push/consent.ts';
import { openPush, pushHost } from '../../service/open-push.ts';
import { showRemote } from '../pages/remote-page.ts';
import { isEmbedded } from '../request/payload.ts';
import { shownOrigin } from '../request/public-origin.ts';
import { withinLimit } from '../request/limits.ts';
import { answerRefused, NOT_KEPT, refused } from '../request/refused.ts';
import { arePushesSuspended } from '../../service/suspension.ts';
import { onGitRepository, onRemote, prefersPage } from '../request/repository.ts';
import { hostScopeOf } from '../request/scope.ts';

const discoveryQuery = z.object({
  service: z
    .enum(['git-receive-pack', 'git-upload-pack'])
    .meta({ description: 'What will follow: a push or a fetch.' }),
});

const NO_LFS = [
  'Git LFS is not available through gitveil.',
  'To clone or fetch, set GIT_LFS_SKIP_SMUDGE=1: files in LFS then stay pointer files.',
  'A push cannot send such files: leave them out of it.',
].join(' ');
/** Short, because a client that discovers shows nothing to the person who waits. */
const DISCOVERY_TIMEOUT_MS = 15_000;
const INVALID_NAME = 'The name of the repository is not valid.';
const MISSING = answer('The repository does not exist, or is not public.', as(TEXT));
const TOO_MANY = answer(
  'The client has sent too many requests. Retry-After says how long to wait.',
  as(TEXT),
);
const OUT_OF_REACH = error('The code host does not answer.', 'failed to reach github.com');
const HOST_ANSWER = {
  description:
    'Any other answer of the code host to a fetch, unchanged. A redirect to another server comes as a sentence, without its address.',
};

/**
 * Describes the answer of a busy service.
 * @param type of the code host's own answer, which is passed on.
 */
const busy = (type: string) =>
  answer(
    'The service has no memory left: Retry-After says how long to wait. Or the answer of the code host.',
    asError('the service is busy: try again in a minute'),
    as(type),
  );

/** Describes a body in one of Git's formats. */
const gitBody = (type: string) => ({
  required: true,
  content: { [type]: { schema: { type: 'string' as const } } },
});

export const git = new Hono<AppEnv>().basePath(REPOSITORY_PATH);

/** Answers a person who opens the remote's address. */
git.get(
  '/',
  described(onRemote(explainRemote), {
    operationId: 'showRepository',
    summary: 'How to use this remote',
    description: 'For a person who opens the address of the remote.',
    tag: 'Git',
    path: repositoryParams,
    responses: {
      200: answer('Commands to clone and push; a page in a browser.', as(TEXT, HTML)),
      400: answer(INVALID_NAME, as(TEXT)),
    },
  }),
);

function explainRemote(c: Context<AppEnv>, target: RepositoryName): Response | Promise<Response> {
  const { config, host } = c.var;
  if (prefersPage(c) && !isEmbedded(c.req.raw)) return showRemote(c, target);
  const remote = `${shownOrigin(c.req.raw, config)}/v1/${repositoryPath(host, target)}`;
  return c.text(
    [
      `This is a Git remote for anonymous contributions to ${fullName(target)}.`,
      '',
      'Clone, commit and push. You need no account: a bot opens the pull request for you.',
      '',
      `  git clone ${remote}`,
      `  cd ${target.name}`,
      '  git switch -c my-change',
      '  git commit -a',
      '  git push origin my-change',
      '',
      'Opened in a browser, this address has forms for issues, replies and changes.',
      '',
    ].join('\n'),
    200,
    // Some caches keep what has no such header and is called like a script, as three.js is.
    { ...NOT_KEPT, Vary: 'Accept' },
  );
}

git.get(
  '/info/refs',
  described(onGitRepository(discoverRefs), {
    operationId: 'discoverRefs',
    summary: 'Discover references before a push or a fetch',
    description: "Git's first request. Before a fetch, the answer is the code host's own.",
    tag: 'Git',
    path: repositoryParams,
    query: discoveryQuery,
    responses: {
      200: answer(
        'The references.',
        as('application/x-git-receive-pack-advertisement', 'application/x-git-upload-pack-advertisement'),
      ),
      301: { description: 'The repository has moved. Git follows, and pushes to the new name.' },
      400: answer(`The service is unknown. Or: ${INVALID_NAME}`, as(TEXT)),
      404: MISSING,
      429: TOO_MANY,
      502: answer(
        'The code host does not answer. Git gets the same JSON as plain text, because it shows nothing else.',
        asError('failed to reach github.com'),
        as(TEXT),
      ),
      503: busy('application/x-git-upload-pack-advertisement'),
      default: HOST_ANSWER,
    },
  }),
);

function discoverRefs(c: Context<AppEnv>, target: RepositoryName): Response | Promise<Response> {
  const service = c.req.query('service');
  if (service === 'git-receive-pack')
    return withinLimit(c, 'discoveries', () =>
      discoverPush(c, target, pushHost(hostScopeOf(c), { timeoutMs: DISCOVERY_TIMEOUT_MS })),
    );
  if (service === 'git-upload-pack') return discoverFetch(c, target);
  const problem = 'Unknown service: use git-upload-pack or git-receive-pack. Is your Git client up to date?';
  return answerRefused(c, refused(400, problem), 'text');
}

git.post(
  '/git-receive-pack',
  described(onGitRepository(push), {
    operationId: 'pushWithGit',
    summary: 'Push: open or update a pull request',
    description:
      'Commands, push options and a pack, as `git push` sends them, optionally with gzip. The service reports every outcome except the ones below in-band with status 200, because Git shows no other text. With the push option `pr-hash` it updates a pull request; `overwrite` drops what somebody else has put on its branch. To withdraw it (`withdraw`), or to change its title or description, it also takes `pr-key`.',
    tag: 'Git',
    path: repositoryParams,
    requestBody: gitBody('application/x-git-receive-pack-request'),
    responses: {
      200: answer('The report of the push, in side-bands.', as('application/x-git-receive-pack-result')),
      400: answer(INVALID_NAME, as(TEXT)),
      413: answer('The push is over 100 MB, as sent or after inflating.', as(TEXT)),
      415: answer('The body is of another type, or compressed with anything but gzip.', as(TEXT)),
    },
  }),
);

function push(c: Context<AppEnv>, target: RepositoryName): Promise<Response> {
  return receivePack(c, {
    isSuspended: () => arePushesSuspended(c.env).catch(() => false),
    open: (memory, reply) => {
      const { warningWaitMs } = c.var.config;
      const consent = new TimedConsent(reply, systemClock, warningWaitMs, c.req.raw.signal);
      return openPush(hostScopeOf(c), target, reply, { memory, consent });
    },
  });
}

git.post(
  '/git-upload-pack',
  described(onGitRepository(uploadPack), {
    operationId: 'fetchWithGit',
    summary: 'Fetch or clone',
    description: 'The service relays only the body of the request to the code host.',
    tag: 'Git',
    path: repositoryParams,
    requestBody: gitBody('application/x-git-upload-pack-request'),
    responses: {
      200: answer('The answer of the code host.', as('application/x-git-upload-pack-result')),
      400: answer(
        `The body did not arrive completely. Or: ${INVALID_NAME}`,
        asError('failed to read body'),
        as(TEXT),
      ),
      404: MISSING,
      413: error(
        'The body is over 50 MB, as sent or after inflating; or it inflates to more than 8 times its size, plus 1 MiB.',
        'request body too large',
      ),
      415: answer('The body is of another type.', as(TEXT)),
      429: TOO_MANY,
      500: error('The request to the code host cannot be built.', 'failed to build request'),
      502: OUT_OF_REACH,
      503: busy('application/x-git-upload-pack-result'),
      default: HOST_ANSWER,
    },
  }),
);

/**
 * git-lfs looks for its server below the remote's address, with several methods and paths. It shows
 * an error in the form of its API ("Response Errors" in git-lfs' docs/api). 501 also says that
 * there is no locking.
 */
git.all('/info/lfs/:path{.+}', (c) =>
  c.body(JSON.stringify({ message: NO_LFS }), 501, { 'Content-Type': 'application/vnd.git-lfs+json' }),
);
