/** Describes the Git remote (contract, 4.5 to 4.7). */
import type { Hono } from 'hono';
import { describeRoute } from 'hono-openapi';
import { REPOSITORY_PATH } from '../request/repository.ts';
import { discoveryQuery } from '../schemas/git.ts';
import { answer, as, asError, error, FAULT, HTML, parameters, PUBLIC, repository, TEXT } from './parts.ts';

const COMMON = { tags: ['Git'], security: PUBLIC };
const INVALID_NAME = 'The name of the repository is not valid.';
const MISSING = 'The repository does not exist, or is not public.';
const TOO_MANY = answer(
  'The client has sent too many requests. Retry-After says how long to wait.',
  as(TEXT),
);
const OUT_OF_REACH = error('The code host does not answer.', 'failed to reach github.com');
/** @param type of the code host's own answer, which is passed on. */
const busy = (type: string) =>
  answer(
    'The service has no memory left: Retry-After says how long to wait. Or the answer of the code host.',
    asError('the service is busy: try again in a minute'),
    as(type),
  );
const HOST_ANSWER = { description: 'Any other answer of the code host to a fetch, unchanged.' };

/** A body in one of Git's formats. */
const gitBody = (type: string) => ({
  required: true,
  content: { [type]: { schema: { type: 'string' as const } } },
});

export function describeGit(app: Hono): void {
  app.get(
    REPOSITORY_PATH,
    describeRoute({
      ...COMMON,
      operationId: 'explainRemote',
      summary: 'How to use this remote',
      description: 'For a person who opens the address of the remote.',
      parameters: repository(),
      responses: {
        200: answer('Commands to clone and push; a page in a browser.', as(TEXT, HTML)),
        400: answer(INVALID_NAME, as(TEXT)),
        ...FAULT,
      },
    }),
  );
  app.get(
    `${REPOSITORY_PATH}/info/refs`,
    describeRoute({
      ...COMMON,
      operationId: 'discoverRefs',
      summary: 'Discover references before a push or a fetch',
      description: "Git's first request. Before a fetch, the answer is the code host's own.",
      parameters: [...repository(), ...parameters('query', discoveryQuery)],
      responses: {
        200: answer(
          'The references.',
          as('application/x-git-receive-pack-advertisement', 'application/x-git-upload-pack-advertisement'),
        ),
        301: { description: 'The repository has moved. Git follows, and pushes to the new name.' },
        400: answer(`The service is unknown. Or: ${INVALID_NAME}`, as(TEXT)),
        404: answer(MISSING, as(TEXT)),
        429: TOO_MANY,
        502: OUT_OF_REACH,
        503: busy('application/x-git-upload-pack-advertisement'),
        ...FAULT,
        default: HOST_ANSWER,
      },
    }),
  );
  app.post(
    `${REPOSITORY_PATH}/git-receive-pack`,
    describeRoute({
      ...COMMON,
      operationId: 'push',
      summary: 'Push: open or update a pull request',
      description:
        'Commands, push options and a pack, as `git push` sends them, optionally with gzip. The service reports every outcome except the ones below in-band with status 200, because Git shows no other text.',
      parameters: repository(),
      requestBody: gitBody('application/x-git-receive-pack-request'),
      responses: {
        200: answer('The report of the push, in side-bands.', as('application/x-git-receive-pack-result')),
        400: answer(INVALID_NAME, as(TEXT)),
        413: answer('The push is over 100 MB, as sent or after inflating.', as(TEXT)),
        415: answer('The body is of another type, or compressed with anything but gzip.', as(TEXT)),
        ...FAULT,
      },
    }),
  );
  app.post(
    `${REPOSITORY_PATH}/git-upload-pack`,
    describeRoute({
      ...COMMON,
      operationId: 'fetch',
      summary: 'Fetch or clone',
      description: 'The service relays only the body of the request to the code host.',
      parameters: repository(),
      requestBody: gitBody('application/x-git-upload-pack-request'),
      responses: {
        200: answer('The answer of the code host.', as('application/x-git-upload-pack-result')),
        400: answer(
          `The body did not arrive completely. Or: ${INVALID_NAME}`,
          asError('failed to read body'),
          as(TEXT),
        ),
        404: answer(MISSING, as(TEXT)),
        413: error('The body is over 50 MB.', 'request body too large'),
        415: answer('The body is of another type.', as(TEXT)),
        429: TOO_MANY,
        502: OUT_OF_REACH,
        503: busy('application/x-git-upload-pack-result'),
        ...FAULT,
        default: HOST_ANSWER,
      },
    }),
  );
}
