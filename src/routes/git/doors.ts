/**
 * Doors beside Git's protocol, for networks and clients that let no push through: whoever has a
 * file sends it with `curl`. They are Git endpoints for the service key, as a push is.
 * Proved by test/e2e/push/bundle.test.ts.
 */
import { Hono } from 'hono';
import * as z from 'zod';
import { REPOSITORY_PATH } from '../../config/hosts.ts';
import type { AppEnv } from '../../env.ts';
import { readBundle } from '../../git/wire/bundle.ts';
import { PR_KEY } from '../../push/reply/commands.ts';
import { INVALID_NAME } from '../../words/repository-name.ts';
import { sentence } from '../../words/sentence.ts';
import { answer, as, asError, asJson, described, repositoryParams, TEXT } from '../description.ts';
import { onGitRepository } from '../request/repository.ts';
import { type Door, FOREIGN, throughDoor } from './door.ts';
import { MAX_PUSH_BYTES } from './git-push.ts';
import { patchDoor } from './patch.ts';
import { pushedAnswer, refusedAnswer } from './door-answer.ts';

export const doors = new Hono<AppEnv>().basePath(REPOSITORY_PATH);

export const BUNDLE_DOOR: Door = {
  name: 'bundle',
  maxBytes: MAX_PUSH_BYTES,
  read: async (reader, pushOptions) => ({ request: await readBundle(reader, pushOptions) }),
};

const keyHeader = z.object({
  'Idempotency-Key': z.string().optional().meta({
    description:
      'Random, 16 to 255 visible ASCII characters. The same request with the same key, from the same network and within twelve hours, gets the same pull request and its key.',
  }),
  [PR_KEY]: z
    .string()
    .optional()
    .meta({ description: 'The push option `pr-key`. An address would be logged.' }),
});

const refusedWith = (description: string) => answer(description, asJson(refusedAnswer), as(TEXT));

const ANSWERS = {
  200: answer('What a push prints; or JSON, if `Accept` asks for it.', asJson(pushedAnswer), as(TEXT)),
  400: refusedWith(`A rule refuses the push, or it cannot be read. Or: ${sentence(INVALID_NAME)}`),
  403: answer('A page of another site must not send this.', asError(FOREIGN.error), as(TEXT)),
  409: refusedWith('It has warnings. Send it again with `yes=<codes>` to publish it with these.'),
  413: answer('The body is over its limit.', as(TEXT)),
  429: refusedWith('The client is over a limit. Retry-After says how long to wait, if that is known.'),
  502: refusedWith('The code host or the service has failed.'),
  503: refusedWith('The operator has suspended pushes.'),
};

doors.post(
  '/bundle',
  described(
    onGitRepository((c, target) => throughDoor(c, target, BUNDLE_DOOR)),
    {
      operationId: 'pushBundle',
      summary: 'Push a bundle',
      description:
        'A file of `git bundle create`, of up to 100 MB, is pushed: `git bundle create - origin/main..my-change | curl --data-binary @- <address>`. Each parameter in the query is a push option, such as `?preview` or `?pr-hash=<hash>`. One branch is taken; other refs are named and left out.',
      tag: 'Git',
      path: repositoryParams,
      header: keyHeader,
      requestBody: {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string' as const } } },
      },
      responses: ANSWERS,
    },
  ),
);

doors.post(
  '/patch',
  described(
    onGitRepository((c, target) => throughDoor(c, target, patchDoor(c, target, []))),
    {
      operationId: 'pushPatch',
      summary: 'Push a patch',
      description:
        'The mails of `git format-patch --stdout`, of up to 10 MB, become commits on the tip of the default branch, or of `?base=`; an update, of the branch that its pull request is for: `git format-patch --stdout origin/main | curl --data-binary @- <address>`. Or what `git diff --binary` prints, with its message as `?title=` and `&description=`. It applies exactly, or is refused. The query takes push options, as for a bundle.',
      tag: 'Git',
      path: repositoryParams,
      header: keyHeader,
      requestBody: { required: true, content: { [TEXT]: { schema: { type: 'string' as const } } } },
      responses: ANSWERS,
    },
  ),
);
