/**
 * Git LFS, which the service does not support. git-lfs looks for its server below the remote's own address. It shows an
 * error to the person if the error has the form of its API ("Response Errors" in git-lfs' docs/api). The message says
 * why the files are missing, and what to do. 501 also tells git-lfs that there is no locking.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';

const MESSAGE = [
  'Git LFS is not available through gitveil.',
  'To clone or fetch, set GIT_LFS_SKIP_SMUDGE=1: files in LFS then stay pointer files.',
  'A push cannot send such files: leave them out of it.',
].join(' ');

export function refuseLfs(c: Context<AppEnv>): Response {
  return c.body(JSON.stringify({ message: MESSAGE }), 501, {
    'Content-Type': 'application/vnd.git-lfs+json',
  });
}
