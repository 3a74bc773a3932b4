/**
 * Git LFS, which is not served here. git-lfs looks for its server below the remote's own address and shows what that
 * says, if it says it in the form of its API ("Response Errors" in git-lfs' docs/api): then the person learns why the
 * files do not come, and what to do. 501 also tells it that there is no locking.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';

const MESSAGE = [
  'Git LFS is not available through gitveil.',
  'To clone or fetch, set GIT_LFS_SKIP_SMUDGE=1: files that are kept in LFS then stay pointer files.',
  'A push cannot bring such files: leave them out of it.',
].join(' ');

export function refuseLfs(c: Context<AppEnv>): Response {
  return c.body(JSON.stringify({ message: MESSAGE }), 501, {
    'Content-Type': 'application/vnd.git-lfs+json',
  });
}
